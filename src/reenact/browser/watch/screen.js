// The screen of one side: tabs, address, the picture or the video, the ring on the element, cards for what is in no
// page's pixels. It is told a time, and shows that moment.

const AFTERGLOW = 0.6;
const CARD = 3;
const AT_HAND = 24;
const DRIFT = 0.3;

/** An element with a class and what is in it. All that was recorded comes onto the page through here: as text. */
function make(tag, kind = "", ...inside) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...inside.filter((item) => item !== null && item !== undefined));
  return element;
}

function drawn(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

function bytesOf(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  return bytes;
}

function dataOf(name) {
  const element = document.getElementById(name);
  return element ? element.textContent : null;
}

/** The pictures, decoded when they are shown and let go again when they are not. */
class Pictures {
  constructor(lines) {
    this.lines = lines;
    this.known = new Map();
  }

  get(number) {
    const line = this.lines[number];
    if (!line) return null;
    let image = this.known.get(number);
    if (image) this.known.delete(number);
    else {
      image = new Image();
      image.src = URL.createObjectURL(new Blob([bytesOf(line)], { type: "image/jpeg" }));
    }
    this.known.set(number, image);
    if (this.known.size > AT_HAND) this.drop();
    return image;
  }

  drop() {
    const [number, image] = this.known.entries().next().value;
    URL.revokeObjectURL(image.src);
    this.known.delete(number);
  }
}

/** Plays pictures on a canvas. */
class Player {
  constructor(side, lines) {
    this.side = side;
    this.pictures = new Pictures(lines);
    this.element = make("canvas");
    this.element.setAttribute("role", "img");
    this.shown = null;
  }

  show(t) {
    const scenes = this.side.scenes;
    const place = Math.max(0, lastAt(scenes, t, (scene) => scene[0]));
    const number = scenes.length ? scenes[place][1] : null;
    if (number === this.shown || number === null) return;
    this.shown = number;
    this.paint(number);
    if (place + 1 < scenes.length) this.pictures.get(scenes[place + 1][1]);
  }

  paint(number) {
    const image = this.pictures.get(number);
    if (!image) {
      this.clear();
      return;
    }
    this.element.ariaBusy = "true";
    image.decode().then(() => {
      if (this.shown !== number) return;
      this.element.width = image.naturalWidth;
      this.element.height = image.naturalHeight;
      this.element.getContext("2d").drawImage(image, 0, 0);
      this.element.dataset.picture = String(number);
      this.element.ariaBusy = "false";
    }, () => {
      // The picture of another moment must not stay.
      if (this.shown === number) this.clear();
    });
  }

  clear() {
    this.element.getContext("2d").clearRect(0, 0, this.element.width, this.element.height);
    this.element.ariaBusy = "false";
  }

  /** How large the page was, in its own pixels. */
  size() {
    const size = this.shown === null ? null : this.side.sizes[this.shown];
    return size && size[0] ? size : this.side.viewport;
  }
}

/** Plays a video, kept to the page's clock. */
class Film {
  constructor(side, source) {
    this.line = new Line(side.video);
    this.element = make("video");
    this.element.muted = true;
    this.element.playsInline = true;
    this.element.preload = "auto";
    this.element.tabIndex = -1;
    this.element.src = source;
  }

  show(t, clock) {
    const video = this.element, wanted = this.line.back(t);
    const still = !clock.playing || t === this.last;
    this.last = t;
    if (still) {
      if (!video.paused) video.pause();
      if (Math.abs(video.currentTime - wanted) > 0.02) video.currentTime = wanted;
      return;
    }
    video.playbackRate = clock.speed;
    if (Math.abs(video.currentTime - wanted) > DRIFT * clock.speed) video.currentTime = wanted;
    if (video.paused) video.play().catch(() => {});
  }

  size() { return null; }
}

class Screen {
  constructor(side, number, letter) {
    this.side = side;
    this.rings = true;
    this.acts = side.rows.filter((row) => row.target && row.target.box);
    this.places = make("div", "places");
    this.url = make("div", "url mono");
    this.url.setAttribute("role", "group");
    this.url.setAttribute("aria-label", "Address");
    this.svg = drawn("svg", { "aria-hidden": "true" });
    this.cards = make("div", "cards");
    this.cards.setAttribute("aria-live", "polite");
    this.player = this.playerOf(number);
    const picture = this.player ? this.player.element : make("p", "nothing", nothingText(side));
    this.frame = make("div", "screen", picture, this.svg, this.cards);
    const label = letter ? make("span", "side", letter) : null;
    this.element = make("article", "stage", this.places, make("div", "bar", label, this.url), this.frame);
    this.element.setAttribute("aria-label", letter ? `Screen of ${letter}` : "Screen");
    this.reshape(side.viewport);
    if (this.player instanceof Film) {
      this.player.element.addEventListener("loadedmetadata", () => {
        this.reshape([this.player.element.videoWidth, this.player.element.videoHeight]);
      });
    }
  }

  playerOf(number) {
    // A video of hours lies beside the page.
    if (this.side.file) return new Film(this.side, encodeURIComponent(this.side.file));
    const video = this.side.video && dataOf(`video-${number}`);
    if (video) return new Film(this.side, URL.createObjectURL(new Blob([bytesOf(video)], { type: "video/mp4" })));
    const lines = dataOf(`pictures-${number}`);
    return lines && this.side.scenes.length ? new Player(this.side, lines.split("\n")) : null;
  }

  reshape([width, height]) {
    this.element.style.setProperty("--shape", String(width / height));
  }

  show(t, clock) {
    if (this.player) this.player.show(t, clock);
    this.showPlace(t);
    this.showRing(t);
    this.showCards(t);
  }

  showPlace(t) {
    const place = this.side.places[Math.max(0, lastAt(this.side.places, t, (item) => item.t))];
    if (!place || place === this.place) return;
    this.place = place;
    const front = place.tabs.find((tab) => tab.tab === place.front);
    this.url.textContent = front ? front.url || "about:blank" : "no tab";
    this.url.title = this.url.textContent;
    this.places.replaceChildren(...place.tabs.map((tab) => {
      const name = make("span", tab === front ? "front" : "", tab.title || tab.url || "new tab");
      name.title = tab.title || tab.url;
      return name;
    }));
  }

  showRing(t) {
    const size = this.player && this.player.size();
    const row = this.rings && size ? this.acts[lastAt(this.acts, t, (act) => act.t)] : undefined;
    const lit = row && t <= (row.end === null ? Infinity : row.end + AFTERGLOW) ? row : null;
    if (lit === this.lit) return;
    this.lit = lit;
    this.svg.replaceChildren();
    if (!lit) return;
    this.svg.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    this.svg.setAttribute("class", actorOf(lit));
    this.svg.append(...ringOf(lit.target));
  }

  showCards(t) {
    const cards = this.side.console.filter((item) => item.card && item.t <= t && t < item.t + CARD);
    const key = cards.map((item) => item.t).join();
    if (key === this.carded) return;
    this.carded = key;
    this.cards.replaceChildren(...cards.map((item) => make("p", "", item.text)));
  }

  toggleRings() {
    this.rings = !this.rings;
    this.lit = undefined;
  }
}

function ringOf(target) {
  const [x, y, width, height] = target.box.map(Number), margin = 4;
  const box = { x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin, rx: 6 };
  const parts = [drawn("rect", { class: "ring-under", ...box }), drawn("rect", { class: "ring", ...box })];
  if (target.point) parts.push(drawn("circle", { class: "pointer", cx: target.point[0], cy: target.point[1], r: 6 }));
  return parts;
}

function actorOf(row) {
  if (row.status === "failed") return "failed";
  return ["script", "agent", "heal"].includes(row.actor) ? row.actor : "";
}

function nothingText(side) {
  return side.sessions ? "No picture of this session was kept." : "No browser took part: the actions were served from a recording.";
}
