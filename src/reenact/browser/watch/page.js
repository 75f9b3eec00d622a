// The page: one clock, and all that follows it.

const ROW = 48;
const SIGNS = { same: "", changed: "changed", deleted: "only in A", inserted: "only in B", moved: "moved" };
const ICONS = { play: "M4 2l10 6-10 6z", pause: "M3 2h4v12H3zM9 2h4v12H9z", previous: "M3 2h2v12H3zM14 2v12L6 8z", next: "M11 2h2v12h-2zM2 2l8 6-8 6z" };

const part = (name) => document.getElementById(name);

class Page {
  constructor({ sides, together: pairing, settings }) {
    this.sides = sides;
    sides.forEach((side, number) => { side.number = number; });
    this.pairing = pairing;
    const joined = pairing ? together(sides, pairing.pairs) : alone(sides[0]);
    Object.assign(this, { lines: joined.lines, entries: joined.entries });
    this.entries.forEach((entry, place) => { entry.place = place; });
    this.clock = new Clock(joined.duration, this.busy());
    this.clock.skipping = Boolean(settings.compact);
    this.clock.changed = () => this.show();
    this.screens = sides.map((side, number) => new Screen(side, number, pairing ? "AB"[number] : ""));
    this.strip = new Strip(sides, part("strip"), (entry) => this.go(entry));
    this.choice = new Choice(part("list"), ROW, (entry) => this.row(entry), (entry) => this.go(entry));
    this.panes = new Panes(sides, part("tabs"), part("panel"));
  }

  start() {
    document.body.classList.toggle("two", this.sides.length > 1);
    document.body.classList.toggle("framed", window !== window.parent);
    part("stages").replaceChildren(...this.screens.map((screen) => screen.element));
    part("main").hidden = false;
    this.tell();
    this.wire();
    if (!this.entries.some((entry) => this.acts(entry))) part("kinds").value = "all";
    this.filter();
    this.follow();
    if (!this.picked) this.clock.seek(this.opening());
    this.show();
  }

  /** The moment at which the first action is done: before it the browser shows no page. */
  opening() {
    const first = this.entries.find((entry) => this.acts(entry));
    if (!first) return 0;
    return Math.max(...this.rowsOf(first).map((row, side) => (row ? this.lines[side].back(row.end ?? row.t) : 0)));
  }

  /** What is not seen at once: network and trees. */
  add(rest) {
    rest.forEach((more, side) => Object.assign(this.sides[side], more));
    this.panes.refresh();
    document.body.dataset.whole = "yes";
  }

  // -- what is where -----------------------------------------------------------------------------------------

  /** The moments of the page at which something happens. */
  busy() {
    const found = new Set();
    this.sides.forEach((side, which) => {
      const add = (t) => { if (t !== null && t !== undefined) found.add(this.lines[which].back(t)); };
      side.rows.forEach((row) => { add(row.t); add(row.end); });
      side.scenes.forEach((scene) => add(scene[0]));
      side.console.forEach((item) => add(item.t));
    });
    return [...found].sort((one, other) => one - other);
  }

  rowsOf(entry) {
    return entry.rows.map((place, side) => (place === null ? null : this.sides[side].rows[place]));
  }

  /** The number and the title of an entry. */
  titleOf(entry) {
    const row = this.rowsOf(entry).find(Boolean);
    return row.n ? `${row.n} ${row.title}` : row.title;
  }

  acts(entry) { return this.rowsOf(entry).some((row) => row && row.acts); }

  failed(entry) { return this.rowsOf(entry).some((row) => row && row.status === "failed"); }

  /** The entry at the moment: the one that was picked, or else the last that has begun. */
  current() {
    if (this.picked && this.picked.at === this.clock.now) return this.picked;
    this.picked = null;
    return this.base[Math.max(0, lastAt(this.base, this.clock.now, (entry) => entry.at))] || null;
  }

  // -- showing -----------------------------------------------------------------------------------------------

  tell() {
    const names = this.sides.map((side) => side.name || side.id);
    document.title = names.join(" and ");
    part("name").textContent = names.join(" and ");
    part("lead").replaceChildren(...this.sides.map((side, number) => make("span", "", `${this.pairing ? `${"AB"[number]}  ` : ""}${leadOf(side)}`)));
    const notes = this.sides.flatMap(notesOf);
    part("problem").textContent = notes.join(" ");
    part("problem").hidden = !notes.length;
    if (this.pairing) this.tellParting();
    for (const name of ["previous", "next"]) icon(part(name), name);
    part("layers").hidden = !this.screens.some((screen) => screen.player instanceof Player);
    part("skip").setAttribute("aria-pressed", String(this.clock.skipping));
    part("slider").max = String(this.clock.duration);
  }

  tellParting() {
    const { parting, steps, why } = this.pairing, box = part("parting");
    box.hidden = false;
    if (parting === null) {
      box.textContent = why ? `First difference: ${why}` : "They are the same from beginning to end.";
      return;
    }
    const places = steps.map((number, side) => (number ? `step ${number} of ${"AB"[side]}` : `the end of ${"AB"[side]}`));
    const button = make("button", "", "Go there");
    button.type = "button";
    button.title = "g";
    button.addEventListener("click", () => this.part());
    box.replaceChildren(make("strong", "", "First difference"), ` at ${places.join(", ")}: ${why}`, button);
  }

  part() { this.go(this.parted()); }

  /** The entry of the list at which two runs part. */
  parted() {
    if (!this.pairing || this.pairing.parting === null) return null;
    const entry = this.entries[this.pairing.parting];
    return this.base.find((each) => each.place >= entry.place) || entry;
  }

  row(entry) {
    const rows = this.rowsOf(entry), row = rows[0] || rows[1], other = rows[0] && rows[1];
    const kinds = ["row", actorOf(row), entry.kind && `kind-${entry.kind}`];
    if (this.failed(entry)) kinds.push("bad");
    if (!row.acts) kinds.push("thought");
    if (entry === this.first) kinds.push("here");
    const numbers = this.pairing ? rows.map((each) => (each && each.n) || "·").join(" – ") : String(row.n || "");
    const element = make("div", kinds.filter(Boolean).join(" "), make("span", "number", numbers),
      make("span", "title", ...marked(row.title, this.wanted)), make("span", "time", clockText(row.t)),
      make("span", "sub", ...marked(subOf(row, other), this.wanted)));
    const mark = SIGNS[entry.kind] || row.actor;
    if (mark) element.append(make("span", entry.kind && SIGNS[entry.kind] ? "mark" : "mark who", mark));
    element.title = row.title;
    return element;
  }

  show() {
    const { now, playing, duration } = this.clock, times = this.lines.map((line) => line.at(now));
    this.screens.forEach((screen, side) => screen.show(times[side], this.clock));
    const entry = this.current();
    this.choice.mark(entry ? this.shown.indexOf(entry) : -1);
    this.strip.mark(entry);
    this.panes.show(entry, times);
    const slider = part("slider");
    slider.value = String(now);
    slider.setAttribute("aria-valuetext", `${clockText(now)}${entry ? `, ${this.rowsOf(entry).find(Boolean).title}` : ""}`);
    part("clock").textContent = `${clockText(now)} / ${clockText(duration)}`;
    if (playing !== this.wasPlaying) {
      this.wasPlaying = playing;
      icon(part("play"), playing ? "pause" : "play");
      part("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    }
    this.ticks();
  }

  /** The steps as marks on the track. Drawn again only where it has changed. */
  ticks() {
    const canvas = part("ticks"), wide = canvas.clientWidth, high = canvas.clientHeight, ratio = devicePixelRatio || 1;
    const played = Math.round(wide * this.clock.now / this.clock.duration);
    const key = [wide, high, ratio, played, this.base.length, matchMedia("(prefers-color-scheme: dark)").matches].join();
    if (key === this.ticked || !wide) return;
    this.ticked = key;
    canvas.width = wide * ratio;
    canvas.height = high * ratio;
    const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const x = (t) => 6 + (wide - 12) * t / this.clock.duration;
    const fill = (name, left, top, width, height) => { pen.fillStyle = colour(name); pen.fillRect(left, top, width, height); };
    pen.scale(ratio, ratio);
    fill("line", 6, high / 2 - 2, wide - 12, 4);
    fill("accent", 6, high / 2 - 2, x(this.clock.now) - 6, 4);
    for (const entry of this.base) {
      const name = this.failed(entry) ? "bad" : actorOf(this.rowsOf(entry).find(Boolean)) || "quiet";
      fill(name, x(entry.at) - 1, name === "bad" ? 3 : 8, name === "bad" ? 3 : 2, name === "bad" ? high - 6 : high - 16);
    }
    if (this.pairing && this.pairing.parting !== null) fill("bad", x(this.entries[this.pairing.parting].at) - 1, 0, 2, high);
  }

  // -- the list ----------------------------------------------------------------------------------------------

  list(kinds) {
    part("kinds").value = kinds;
    this.filter();
  }

  filter() {
    const kinds = part("kinds").value;
    this.wanted = part("search").value.trim().toLowerCase();
    this.base = kinds === "all" ? this.entries : this.entries.filter((entry) => this.acts(entry));
    this.shown = this.base.filter((entry) => (kinds !== "failed" || this.failed(entry)) && this.says(entry));
    this.ticked = null;
    const parted = this.parted();
    this.clock.stop = parted ? parted.at : null;
    this.strip.fill(this.base, (entry) => this.titleOf(entry), (entry) => this.failed(entry));
    const parting = this.pairing ? this.pairing.parting : null;
    this.first = parting === null ? null : this.shown.find((entry) => entry.place >= parting);
    this.choice.fill(this.shown, this.shown.indexOf(this.current()));
    const many = this.shown.length, failed = this.base.filter((entry) => this.failed(entry)).length;
    part("count").textContent = this.wanted || kinds === "failed"
      ? `${many} of ${this.base.length} steps` : `${many} steps${failed ? `, ${failed} failed` : ""}`;
  }

  /** Whether an entry holds the words that are searched for. */
  says(entry) {
    if (!this.wanted) return true;
    entry.text ??= this.rowsOf(entry).filter(Boolean).map((row) => (
      JSON.stringify([row.title, row.name, row.message, row.url, row.fields, row.said, row.why, row.gave]))).join("\n").toLowerCase();
    return entry.text.includes(JSON.stringify(this.wanted).slice(1, -1));
  }

  // -- moving ------------------------------------------------------------------------------------------------

  go(entry) {
    if (!entry) return;
    this.picked = entry;
    this.clock.seek(entry.at);
    this.link(entry);
  }

  step(by, wanted = () => true) {
    const place = this.base.indexOf(this.current());
    for (let at = place + by; at >= 0 && at < this.base.length; at += by) {
      if (wanted(this.base[at])) {
        this.go(this.base[at]);
        return;
      }
    }
  }

  toggle() { if (this.clock.playing) this.clock.pause(); else this.clock.play(); }

  faster(by) {
    const speed = part("speed"), place = Math.min(Math.max(speed.selectedIndex + by, 0), speed.options.length - 1);
    speed.selectedIndex = place;
    this.clock.speed = Number(speed.value);
  }

  skip() {
    this.clock.skipping = !this.clock.skipping;
    part("skip").setAttribute("aria-pressed", String(this.clock.skipping));
  }

  ring() {
    this.screens.forEach((screen) => screen.toggleRings());
    part("layers").setAttribute("aria-pressed", String(this.screens[0].rings));
    this.show();
  }

  // -- links -------------------------------------------------------------------------------------------------

  link(entry) {
    const [a, b] = this.rowsOf(entry);
    const name = a && a.n ? String(a.n) : b && b.n ? `b${b.n}` : "";
    // Inside of another page there is no address to write to.
    if (name && location.protocol !== "about:") history.replaceState(null, "", `#step=${name}`);
  }

  /** Go where the address says: `#step=7`, of the second side `#step=b7`. */
  follow() {
    const found = /^#step=(b?)(\d+)$/.exec(location.hash);
    if (!found) return;
    const side = found[1] ? 1 : 0, number = Number(found[2]);
    const place = this.sides[side] ? this.sides[side].rows.findIndex((row) => row.n === number) : -1;
    const entry = this.entries.find((each) => place >= 0 && each.rows[side] === place);
    if (!entry) return;
    if (!this.base.includes(entry)) this.list("all");
    this.picked = entry;
    this.clock.seek(entry.at);
  }

  // -- hands -------------------------------------------------------------------------------------------------

  wire() {
    const on = (name, event, act) => part(name).addEventListener(event, act);
    on("play", "click", () => this.toggle());
    on("previous", "click", () => this.step(-1));
    on("next", "click", () => this.step(1));
    on("slider", "input", (event) => this.clock.seek(Number(event.target.value)));
    on("speed", "change", (event) => { this.clock.speed = Number(event.target.value); });
    on("skip", "click", () => this.skip());
    on("layers", "click", () => this.ring());
    on("search", "input", () => this.filter());
    on("kinds", "change", () => { this.filter(); this.show(); });
    on("keys", "click", () => this.help());
    on("list", "dblclick", () => this.toggle());
    listKeys(part("list"), this.choice);
    addEventListener("hashchange", () => this.follow());
    addEventListener("resize", () => this.show());
    addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || part("help").open) return;
    const at = event.target;
    if (at === part("search")) {
      this.searching(event);
      return;
    }
    const own = { BUTTON: [" ", "Enter"], INPUT: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"] }[at.tagName];
    if (at.tagName === "SELECT" || (own && own.includes(event.key))) return;
    const act = ACTS[event.key];
    if (!act) return;
    event.preventDefault();
    act(this);
  }

  searching(event) {
    if (event.key === "Escape") {
      part("search").value = "";
      this.filter();
    }
    if (event.key === "Enter" && this.shown.length) this.go(this.shown[Math.max(0, this.shown.indexOf(this.current()))]);
    if (["Escape", "Enter", "ArrowDown"].includes(event.key)) {
      event.preventDefault();
      part("list").focus();
    }
  }

  help() {
    const list = part("help-keys");
    list.replaceChildren(...KEYS.flatMap(([names, text]) => [make("dt", "", ...names.map((name) => make("kbd", "", name))), make("dd", "", text)]));
    part("help").showModal();
  }
}

function notesOf(side) {
  const notes = [];
  if (side.status === "unsealed") notes.push(`${side.id} was cut off, or still goes on: this is what there is of it.`);
  if (side.missing) notes.push(`${side.missing} of its pictures are left out, for the page is full; a video has them all.`);
  return notes;
}

function leadOf(side) {
  const parts = [side.id, side.status, `${side.steps} steps`];
  if (side.sessions > 1) parts.push(`session ${side.session} of ${side.sessions}`);
  if (side.started) parts.push(side.started.replace("T", " ").replace(/\.\d+.*$/, " UTC"));
  return parts.filter(Boolean).join(" · ");
}

/** The second line of a row: why it failed, or where it was. */
function subOf(row, other) {
  if (other && other.status === "failed" && row.status !== "failed") return `B: ${other.message}`;
  if (other && other.title !== row.title) return `B: ${other.title}`;
  if (other && row.status === "failed" && other.status !== "failed") return `A: ${row.message}`;
  if (row.status === "failed" || row.kind !== "browser") return row.message || row.model || row.name;
  if (row.status === "in flight") return "never done: the recording stops here";
  return row.url || row.message;
}

/** A text with the words that are searched for marked in it. */
function marked(text, wanted) {
  const place = wanted ? text.toLowerCase().indexOf(wanted) : -1;
  if (place < 0) return [text];
  const end = place + wanted.length;
  return [text.slice(0, place), make("mark", "", text.slice(place, end)), text.slice(end)];
}

function icon(button, name) {
  const svg = drawn("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
  svg.append(drawn("path", { d: ICONS[name] }));
  button.replaceChildren(svg);
}

/** The rest of the file: it is read while what stands before this script is unpacked. */
function whole() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((done) => { document.addEventListener("DOMContentLoaded", done, { once: true }); });
}

async function open() {
  const [data] = await Promise.all([inflated(dataOf("data")), whole()]);
  const page = new Page(data);
  page.start();
  page.add(await inflated(dataOf("rest")));
}

open().catch((error) => {
  part("problem").hidden = false;
  part("problem").textContent = typeof DecompressionStream === "undefined"
    ? "This page needs a browser of 2023 or later." : `This page cannot be shown: ${error.message}`;
});
