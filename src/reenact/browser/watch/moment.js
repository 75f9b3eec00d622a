// The page itself at a moment, built again from its recorded nodes: to look at, to select in, to try selectors on.
//
// It is built in a frame without scripts, whose policy lets nothing be fetched. Nothing that was recorded is ever parsed as
// markup: every element and attribute is made by name, from the lists below. The console and the page of `reenact watch`
// share this file; the latter drops the word `export`.

export const TAGS = new Set(("html head body a abbr address area article aside b bdi bdo blockquote br button canvas caption center " +
  "cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 " +
  "header hgroup hr i iframe img input ins kbd label legend li main map mark menu meter nav nobr ol optgroup option output p picture pre " +
  "progress q rp rt ruby s samp search section select slot small span strike strong sub summary sup table tbody td textarea tfoot th thead " +
  "time tr tt u ul var video audio wbr").split(" "));
export const SVG_TAGS = new Set(("svg g path circle ellipse rect line polyline polygon text tspan defs symbol title desc linearGradient " +
  "radialGradient stop clipPath mask pattern marker a switch").split(" "));
export const ATTRIBUTES = new Set(("id class name type href src alt title role placeholder for style width height colspan rowspan dir lang " +
  "hidden disabled readonly required checked multiple size open tabindex contenteditable draggable rows cols wrap start " +
  "reversed span headers scope label low high max min step optimum inert popover popovertarget slot part exportparts align valign " +
  "bgcolor border cellpadding cellspacing color face usemap shape coords action method target rel autocomplete inputmode pattern " +
  "viewBox d fill stroke points x y x1 y1 x2 y2 cx cy r rx ry dx dy transform opacity offset gradientUnits gradientTransform " +
  "clip-path clip-rule fill-rule fill-opacity stroke-width stroke-linecap stroke-linejoin stroke-dasharray stroke-opacity " +
  "stop-color stop-opacity text-anchor dominant-baseline font-size font-family font-weight preserveAspectRatio mask value").split(" "));

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const EMPTY_PAGE = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
const SVG = "http://www.w3.org/2000/svg";
const DEEPEST = 450, FRAMES = 40, MARKS = 300, WAIT = 120;
const CUSTOM = /^[a-z][a-z0-9._]*-[a-z0-9._-]*$/;
const FILLED = "••••••";

// ------------------------------------------------------------------------------------------------------ building

/** An address that names a place, and runs nothing. It is never loaded. */
function harmless(url) {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.replace(/[\u0000-\u0020]+/g, ""));
  return !scheme || /^(https?|file|mailto|tel|ftp|about)$/i.test(scheme[1]);
}

function allowed(name, value) {
  if (!/^[a-zA-Z_:][\w:.-]*$/.test(name) || /^on/i.test(name)) return false;
  if (!ATTRIBUTES.has(name) && !/^(aria|data)-/.test(name) && (value !== "" || /^(srcset|srcdoc|autofocus|autoplay|is|ping|formaction|background)$/i.test(name))) return false;
  return name !== "href" && name !== "src" && name !== "action" ? true : harmless(value);
}

const boxPicture = ([width, height]) => {
  const [w, h] = [width, height].map((side) => Math.max(1, Math.min(8000, Math.round(side))));
  const drawing = `<svg xmlns="${SVG}" width="${w}" height="${h}"><rect width="100%" height="100%" fill="#8b949e" fill-opacity=".35"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(drawing)}`;
};

/** A frame for a document: without scripts, forms, navigation of the page around it. */
function quietFrame(document) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-same-origin");
  return frame;
}

const loaded = (frame) => new Promise((done) => frame.addEventListener("load", done, { once: true }));

/** Builds one moment into a frame that is in the page. */
export class BuiltMoment {
  constructor(moment) {
    this.moment = moment;
    this.made = [];
    this.depths = [];
    this.later = [];
    this.frames = [];
    this.sheets = new Map();
  }

  async into(frame) {
    const { nodes } = this.moment;
    for (let place = 0; place < nodes.length; place++) {
      const [parent, tag, given = {}, facts = {}] = nodes[place];
      if (tag === "#document") await this.document(place, parent, facts, place ? this.made[parent] : frame);
      else this.node(place, parent, tag, given, facts);
    }
    for (const act of this.later) {
      try { act(); } catch { /* the page had more than this one can show */ }
    }
    return this;
  }

  async document(place, parent, facts, frame) {
    this.depths[place] = 0;
    if (!frame || frame.localName !== "iframe" || this.frames.length >= FRAMES || (place && !frame.isConnected)) return;
    const page = (facts.quirks ? "" : "<!doctype html>") + EMPTY_PAGE;
    if (place) await frame.readied;
    else {
      const ready = loaded(frame);
      frame.srcdoc = page;
      await ready;
    }
    const inner = frame.contentDocument;
    if (!inner) return;
    this.frames.push({ window: frame.contentWindow, document: inner, frame: place ? frame : null });
    inner.documentElement.remove();
    this.made[place] = inner;
    inner.adoptedStyleSheets = this.sheetsOf(facts, inner);
    if (facts.scroll) this.later.push(() => inner.scrollingElement.scrollTo(...facts.scroll));
  }

  sheetsOf(facts, document) {
    const window = document.defaultView, found = [];
    for (const [part, media] of facts.sheets || []) {
      const key = `${this.frames.length} ${part} ${media || ""}`;
      if (!this.sheets.has(key)) {
        const sheet = new window.CSSStyleSheet({ media: media || "" });
        // An address in it would only be refused, with a word on the console each time.
        const text = String(this.moment.parts[part] || "").replace(/@import\b[^;]*;?/gi, "")
          .replace(/url\(\s*(?!["']?\s*data:image\/|["']?\s*#)[^)]*\)/gi, 'url("")').replace(/@font-face\s*{[^}]*}/gi, "");
        try { sheet.replaceSync(text); } catch { /* it stays empty */ }
        this.sheets.set(key, sheet);
      }
      found.push(this.sheets.get(key));
    }
    return found;
  }

  node(place, parent, tag, given, facts) {
    const around = this.made[parent];
    this.depths[place] = (this.depths[parent] || 0) + 1;
    if (!around) return;
    const document = around.nodeType === 9 ? around : around.ownerDocument;
    if (around.nodeType === 9 && (tag === "#text" || around.documentElement)) return;
    if (tag === "#text") around.append(document.createTextNode(String(given)));
    else if (tag === "#shadow") this.shadow(place, around, facts, document);
    else {
      const element = this.element(document, tag, given, facts);
      around.append(element);
      this.made[place] = this.depths[place] > DEEPEST && around.nodeType === 1 ? around : element;
    }
  }

  shadow(place, host, facts, document) {
    try {
      const root = host.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = this.sheetsOf(facts, document);
      this.made[place] = root;
    } catch { this.made[place] = host; }
  }

  element(document, tag, given, facts) {
    const element = emptyElement(document, tag, facts);
    const made = element.localName;
    if (made === "template") return element;
    if (made === "img") element.setAttribute("srcset", this.picture(facts));
    for (const [name, value] of Object.entries(given).slice(0, 120)) {
      const text = String(value);
      if (!allowed(name, text) || (name === "src" && !["img", "iframe"].includes(made)) || (name === "type" && text.toLowerCase() === "image")) continue;
      try {
        if (name === "style") element.style.cssText = text.replace(/url\(\s*(?!["']?\s*data:image\/|["']?\s*#)[^)]*\)/gi, 'url("")');
        else element.setAttribute(name, made === "canvas" && /^(width|height)$/.test(name) ? String(Math.min(4096, Number(text) || 0)) : text);
      } catch { /* no name of an attribute */ }
    }
    this.state(element, made, facts);
    return element;
  }

  picture(facts) {
    if (facts.image !== undefined) {
      const data = String(this.moment.parts[facts.image] || "");
      if (/^data:image\/[a-z+]+;base64,[A-Za-z0-9+/=]*$/.test(data)) return `${data} 1x`;
    }
    return facts.natural ? `${boxPicture(facts.natural)} 1x` : "data:image/png;base64,AA== 1x";
  }

  state(element, tag, facts) {
    if (tag === "input") element.checked = Boolean(facts.on);
    if (facts.filled && (tag === "textarea" || (tag === "input" && element.type !== "file"))) {
      try { element.value = FILLED; } catch { /* a number, a date */ }
    }
    if (facts.at) this.later.push(() => [...element.options].forEach((one, at) => { one.selected = facts.at.includes(at); }));
    if (facts.scroll) this.later.push(() => element.scrollTo(...facts.scroll));
    if (facts.modal && tag === "dialog") this.later.push(() => { element.removeAttribute("open"); element.showModal(); });
    if (facts.popover) this.later.push(() => element.showPopover());
    if (facts.box && (tag === "video" || tag === "span")) {
      const [width, height] = facts.box;
      element.style.cssText += `;display:inline-block;width:${Number(width)}px;height:${Number(height)}px;background:#8b949e59`;
    }
    if (tag === "iframe") {
      element.setAttribute("sandbox", "allow-same-origin");
      element.readied = loaded(element);
      element.setAttribute("srcdoc", `<!doctype html>${EMPTY_PAGE}`);
    }
  }
}

/** An element of a known tag; of one that is not known, an inert one at its place. */
function emptyElement(document, tag, facts) {
  try {
    if (facts.svg) return SVG_TAGS.has(tag) || SVG_TAGS.has(svgCase(tag)) ? document.createElementNS(SVG, svgCase(tag)) : document.createElementNS(SVG, "g");
    if (["object", "embed", "frame"].includes(tag)) return document.createElement("span");
    if (TAGS.has(tag) || CUSTOM.test(tag)) return document.createElement(tag);
  } catch { /* no name of an element */ }
  return document.createElement("template");
}
const svgCase = (tag) => ({ lineargradient: "linearGradient", radialgradient: "radialGradient", clippath: "clipPath" })[tag] || tag;

// ----------------------------------------------------------------------------------------------------- selectors

const quoted = (text) => JSON.stringify(text);
const attributeQuoted = (text, exact) => `"${text.replace(/\\/g, "\\\\").replace(/["]/g, '\\"')}"${exact ? "s" : "i"}`;
const soughtText = (value, exact) => (value instanceof RegExp ? escapedPattern(value) : `${quoted(value)}${exact ? "s" : "i"}`);
const soughtAttribute = (value, exact) => (value instanceof RegExp ? escapedPattern(value) : attributeQuoted(value, exact));
const escapedPattern = (value) => String(value).replace(/(^|[^\\])(\\\\)*(["'`])/g, "$1$2\\$3").replace(/>>/g, "\\>\\>");

/** Reads an expression of locators as Playwright for Python prints them: `get_by_role("button", name="Save")`. */
class LocatorReader {
  constructor(text) {
    this.text = text.replace(/^page\./, "");
    this.at = 0;
  }

  read() {
    const parts = this.chain();
    if (this.at < this.text.length) throw new Error(`${this.text} does not parse at ${this.text.slice(this.at, this.at + 12)}`);
    return parts.join(" >> ");
  }

  space() { while (/\s/.test(this.text[this.at] || "")) this.at++; }

  take(pattern) {
    this.space();
    const found = new RegExp(pattern.source, `${pattern.flags}y`);
    found.lastIndex = this.at;
    const match = found.exec(this.text);
    if (match) this.at = found.lastIndex;
    return match;
  }

  need(pattern, what) {
    const found = this.take(pattern);
    if (!found) throw new Error(`${what} is missing at ${this.text.slice(this.at, this.at + 12) || "the end"}`);
    return found;
  }

  chain() {
    const parts = [];
    do {
      const name = this.need(/[a-z_]+/, "a method")[0];
      if (PROPERTIES[name] !== undefined) parts.push(PROPERTIES[name]);
      else {
        if (!METHODS[name]) throw new Error(`there is no method ${name}`);
        this.need(/\(/, "a bracket");
        parts.push(...METHODS[name](...this.given()));
      }
    } while (this.take(/\./));
    return parts;
  }

  given() {
    const plain = [], named = {};
    while (!this.take(/\)/)) {
      const key = this.take(/([a-z_]+)\s*=(?!=)/);
      if (key) named[key[1]] = this.value();
      else plain.push(this.value());
      if (!this.take(/,/)) {
        this.need(/\)/, "a bracket");
        break;
      }
    }
    return [plain, named];
  }

  value() {
    if (this.take(/True\b/)) return true;
    if (this.take(/False\b/)) return false;
    if (this.take(/None\b/)) return null;
    const number = this.take(/-?\d+/);
    if (number) return Number(number[0]);
    if (this.take(/re\.compile\(/)) {
      const text = this.value(), flag = this.take(/,\s*re\.(IGNORECASE|I|MULTILINE|M|DOTALL|S)\b/);
      this.need(/,?\s*\)/, "a bracket");
      return new RegExp(text, flag ? { I: "i", M: "m", D: "s", S: "s" }[flag[1][0]] : "");
    }
    const raw = this.take(/(r?)("((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')/);
    if (raw) {
      const inside = raw[3] ?? raw[4] ?? "";
      return raw[1] ? inside : inside.replace(/\\(n|t|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)/g, (_, code) =>
        code === "n" ? "\n" : code === "t" ? "\t" : code.length > 1 ? String.fromCharCode(parseInt(code.slice(1), 16)) : code);
    }
    return { selector: this.chain().join(" >> ") };
  }
}

const filters = (named) => {
  const parts = [];
  if (named.has_text != null) parts.push(`internal:has-text=${soughtText(named.has_text, false)}`);
  if (named.has_not_text != null) parts.push(`internal:has-not-text=${soughtText(named.has_not_text, false)}`);
  if (named.has != null) parts.push(`internal:has=${quoted(named.has.selector)}`);
  if (named.has_not != null) parts.push(`internal:has-not=${quoted(named.has_not.selector)}`);
  if (named.visible != null) parts.push(`visible=${named.visible}`);
  return parts;
};
const byAttribute = (name) => ([text], { exact }) => [`internal:attr=[${name}=${soughtAttribute(text, exact)}]`];
const ROLE_PROPERTIES = ["checked", "disabled", "selected", "expanded", "include_hidden", "level", "name", "description", "pressed"];
const PROPERTIES = { first: "nth=0", last: "nth=-1", content_frame: "internal:control=enter-frame", owner: "" };
const METHODS = {
  get_by_role: ([role], named) => {
    const told = ROLE_PROPERTIES.filter((name) => named[name] != null).map((name) =>
      `[${name.replace("_", "-")}=${name === "name" || name === "description" ? soughtAttribute(named[name], named.exact) : named[name]}]`);
    return [`internal:role=${role}${told.join("")}`];
  },
  get_by_text: ([text], { exact }) => [`internal:text=${soughtText(text, exact)}`],
  get_by_label: ([text], { exact }) => [`internal:label=${soughtText(text, exact)}`],
  get_by_placeholder: byAttribute("placeholder"),
  get_by_alt_text: byAttribute("alt"),
  get_by_title: byAttribute("title"),
  get_by_test_id: ([text]) => [`internal:testid=[data-testid=${soughtAttribute(text, true)}]`],
  locator: ([inner], named) => [typeof inner === "string" ? inner : `internal:chain=${quoted(inner.selector)}`, ...filters(named)],
  frame_locator: ([text]) => [text, "internal:control=enter-frame"],
  nth: ([number]) => [`nth=${number}`],
  filter: (_, named) => filters(named),
};

/** A selector as a user writes it, as frames to enter and a selector of Playwright's. */
export function parsedSelector(text) {
  let rest = text.trim();
  const parts = [];
  while (rest.startsWith("frame=")) {
    const [frame, inner] = [rest.slice(6).split(" >> ")[0], rest.slice(6).split(" >> ").slice(1).join(" >> ")];
    if (!frame.trim() || !inner.trim()) throw new Error("it names a frame and nothing in it");
    parts.push(frame.trim(), "internal:control=enter-frame");
    rest = inner.trim();
  }
  if (!rest || /^(~|css=|xpath=)\s*$/.test(rest)) throw new Error("it is empty");
  if (rest.startsWith("~")) parts.push(`internal:text=${soughtText(rest.slice(1).trim(), false)}`);
  else if (/^(page\.|[a-z_]+\()/.test(rest) && METHODS[rest.replace(/^page\./, "").match(/^[a-z_]+/)?.[0]]) parts.push(new LocatorReader(rest).read());
  else parts.push(rest);
  return parts.join(" >> ").replace(/ >> $/, "");
}

/** Selectors on a built moment, by Playwright's own code where it is at hand. */
export class Finder {
  /** `engine` is `{ playwright, eyes }`, or null: then only CSS and XPath are understood. */
  constructor(built, engine) {
    this.built = built;
    this.engine = engine;
    this.known = new Map();
  }

  scripts(window) {
    if (!this.known.has(window)) {
      const options = { isUnderTest: false, sdkLanguage: "python", frameSeq: 0, testIdAttributeName: "data-testid", stableRafCount: 1,
        browserName: "chromium", shouldPrependErrorPrefix: false, isUtilityWorld: false, customEngines: [] };
      this.known.set(window, {
        playwright: this.engine?.playwright ? new (this.engine.playwright())(window, options) : null,
        eyes: this.engine?.eyes ? this.engine.eyes(window) : null,
      });
    }
    return this.known.get(window);
  }

  /** The elements that a selector names: of the main frame, or else of the first other frame that has any. */
  all(text) {
    const [first, ...others] = parsedSelector(text).split(/ >> internal:control=enter-frame(?: >> |$)/);
    const frames = others.length ? this.built.frames.slice(0, 1) : this.built.frames;
    for (const frame of frames) {
      let found = this.within(frame, first), place = frame;
      for (const one of others) {
        if (!one) break;
        place = found.length && this.built.frames.find((each) => each.frame === found[0]);
        found = place ? this.within(place, one) : [];
      }
      if (found.length) return found;
    }
    return [];
  }

  within({ window, document }, selector) {
    const { playwright } = this.scripts(window);
    if (playwright) return playwright.querySelectorAll(playwright.parseSelector(selector), document);
    const path = selector.replace(/^xpath=/, "");
    if (path !== selector || /^(\/\/|\.\.)/.test(selector)) {
      const all = document.evaluate(path, document, null, 7, null);
      return Array.from({ length: all.snapshotLength }, (_, at) => all.snapshotItem(at));
    }
    if (/>>|^(?!css=)[a-z:-]+=/.test(selector)) throw new Error("Playwright is not at hand here: only CSS and XPath are understood");
    return [...document.querySelectorAll(selector.replace(/^css=/, ""))];
  }

  /** What is known of an element: its role, its name, and the selectors that name it alone. */
  of(element) {
    const place = this.built.frames.find((each) => each.document === element.ownerDocument);
    if (!place) return { role: "", name: "", selectors: [] };
    const { playwright, eyes } = this.scripts(place.window);
    const told = eyes ? eyes.selectorsOf(element) : { role: "", name: "", css: element.id ? `#${CSS.escape(element.id)}` : "" };
    const utils = playwright?.utils;
    const role = utils?.getAriaRole?.(element) || told.role, name = utils?.getElementAccessibleName?.(element, false) ?? told.name;
    const chain = this.chain(place), offered = [];
    if (told.test_id) offered.push(told.test_id);
    if (role && role !== "generic" && name) offered.push(`role=${role}[name=${attributeQuoted(name, true).slice(0, -1)}]`);
    if (told.text && !told.text.includes("…") && !told.field) offered.push(`~${told.text}`);
    for (const [kind, value] of [["css", told.css], ["xpath", told.xpath]]) if (value) offered.push(`${kind}=${value}`);
    const alone = (text) => {
      try {
        const found = this.all(text);
        return found.length === 1 && found[0] === element;
      } catch { return false; }
    };
    return { role, name, selectors: offered.map((one) => [...chain, one].join(" >> ")).filter(alone) };
  }

  chain(place) {
    const found = [];
    for (let at = place; at?.frame; at = this.built.frames.find((each) => each.document === at.frame.ownerDocument)) {
      const outer = this.built.frames.find((each) => each.document === at.frame.ownerDocument);
      const { eyes } = this.scripts(outer.window);
      found.unshift(`frame=${eyes ? eyes.selectorsOf(at.frame).css : "iframe"}`);
    }
    return found;
  }
}

// ---------------------------------------------------------------------------------------------------------- view

/** An element with a class and what is in it, as text. */
function made(tag, kind, ...inside) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...inside);
  return element;
}

/** Where an element of a built moment is, in pixels of the page around all its frames. */
function placeOf(built, element) {
  const box = element.getBoundingClientRect();
  let [x, y] = [box.x, box.y];
  for (let at = built.frames.find((each) => each.document === element.ownerDocument)?.frame; at;) {
    const outer = at.getBoundingClientRect();
    [x, y] = [x + outer.x + at.clientLeft, y + outer.y + at.clientTop];
    const around = at.ownerDocument;
    at = built.frames.find((each) => each.document === around)?.frame;
  }
  return [x, y, box.width, box.height];
}

function elementAt(root, x, y) {
  let found = root.elementFromPoint(x, y);
  for (let inner = found?.shadowRoot?.elementFromPoint(x, y); inner && inner !== found; inner = found.shadowRoot?.elementFromPoint(x, y)) found = inner;
  if (found?.localName !== "iframe" || !found.contentDocument) return found;
  const box = found.getBoundingClientRect();
  return elementAt(found.contentDocument, x - box.x - found.clientLeft, y - box.y - found.clientTop) || found;
}

const outerOf = (element) => element.parentElement || element.getRootNode().host || element.ownerDocument.defaultView?.frameElement || null;
const innerOf = (element) => (element.contentDocument?.documentElement || element.shadowRoot?.firstElementChild || element.firstElementChild);

/** The page at a moment, with what is selected in it, and a field to try selectors on it. */
export class MomentView {
  constructor(engine) {
    this.engine = engine;
    this.wanted = null;
    this.built = null;
    this.field = made("input");
    Object.assign(this.field, { type: "search", spellcheck: false, autocomplete: "off", placeholder: "css, text=, role=, get_by_…" });
    this.field.setAttribute("aria-label", "Try a selector");
    this.count = made("output", "moment-count");
    this.count.setAttribute("role", "status");
    this.when = made("p", "moment-when");
    this.screen = made("div", "moment-screen");
    this.screen.tabIndex = 0;
    this.screen.setAttribute("role", "group");
    this.screen.setAttribute("aria-label", "Elements of the page: click one, or move by the arrow keys");
    this.facts = made("div", "moment-facts");
    this.element = made("div", "moment",
      made("div", "moment-tools", made("label", "moment-try", "Try a selector", this.field), this.count, this.when),
      made("div", "moment-body", this.screen, this.facts));
    this.wire();
    this.explain();
  }

  wire() {
    this.field.addEventListener("input", () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.find(), WAIT); });
    this.field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") { this.field.value = ""; this.field.blur(); this.find(); }
      if (event.key === "Enter") { this.find(); this.next(); }
    });
    this.screen.addEventListener("pointermove", (event) => { this.hovered = this.under(event); this.draw(); });
    this.screen.addEventListener("pointerleave", () => { this.hovered = null; this.draw(); });
    this.screen.addEventListener("click", (event) => this.select(this.under(event)));
    this.screen.addEventListener("wheel", (event) => this.scroll(event), { passive: false });
    this.screen.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.fit()).observe(this.screen);
  }

  /** Show a moment; `key` names it, `load` gives it, `when` says in words when it was. */
  async show(key, load, when) {
    this.when.textContent = when;
    if (key === this.wanted) return;
    this.wanted = key;
    const moment = key === null ? null : await Promise.resolve(load()).catch((error) => ({ failed: String(error?.message || error) }));
    if (key !== this.wanted) return;
    if (!moment || moment.failed) return this.nothing(moment?.failed || "");
    const frame = quietFrame(document);
    frame.title = "The page at this moment";
    frame.tabIndex = -1;
    frame.className = "moment-page";
    const [width, height] = moment.viewport;
    [frame.width, frame.height] = [String(width), String(height)];
    this.marks = document.createElementNS(SVG, "svg");
    this.marks.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.marks.setAttribute("aria-hidden", "true");
    this.screen.style.aspectRatio = `${width} / ${height}`;
    this.screen.replaceChildren(frame, this.marks);
    this.fit();
    const built = await new BuiltMoment(moment).into(frame);
    if (key !== this.wanted) return;
    this.built = built;
    this.finder = new Finder(built, this.engine);
    this.selected = this.hovered = null;
    this.find();
    this.explain();
    if (!moment.whole) this.when.textContent += "; the page had more than is kept";
    this.element.dataset.shown = String(key);
  }

  nothing(why) {
    this.built = null;
    this.screen.replaceChildren(made("p", "nothing", why || "The page itself was not kept here."));
    delete this.element.dataset.shown;
    this.explain();
  }

  fit() {
    const frame = this.screen.querySelector("iframe");
    if (frame) frame.style.transform = `scale(${this.screen.clientWidth / Number(frame.width)})`;
  }

  // -- the selection -----------------------------------------------------------------------------------------------

  under(event) {
    if (!this.built) return null;
    const box = this.screen.getBoundingClientRect(), scale = this.built.moment.viewport[0] / (box.width || 1);
    return elementAt(this.built.frames[0].document, (event.clientX - box.x) * scale, (event.clientY - box.y) * scale);
  }

  scroll(event) {
    const root = this.built?.frames[0].document.scrollingElement;
    if (!root) return;
    const before = root.scrollTop;
    root.scrollBy(event.deltaX, event.deltaY);
    if (root.scrollTop !== before) event.preventDefault();
    this.draw();
  }

  key(event) {
    if (!this.built || !["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.selected || this.built.frames[0].document.body;
    const to = { ArrowUp: outerOf, ArrowDown: innerOf, ArrowLeft: (one) => one.previousElementSibling, ArrowRight: (one) => one.nextElementSibling }[event.key](at);
    this.select(this.selected ? to || at : at);
  }

  select(element) {
    if (!element) return;
    this.selected = element;
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.explain();
    this.draw();
  }

  next() {
    if (!this.matches?.length) return;
    this.select(this.matches[(this.matches.indexOf(this.selected) + 1) % this.matches.length]);
  }

  find() {
    const text = this.field.value.trim();
    this.matches = [];
    let said = "";
    if (text && this.finder) {
      try {
        this.matches = this.finder.all(text);
        said = this.matches.length === 1 ? "1 element matches" : `${this.matches.length || "No"} elements match`;
      } catch (error) {
        said = `It does not parse: ${String(error.message || error).split("\n")[0]}`;
      }
    }
    this.count.textContent = said;
    this.field.setAttribute("aria-invalid", String(said.startsWith("It does")));
    this.draw();
  }

  explain() {
    if (!this.selected || !this.finder) {
      this.facts.replaceChildren(made("p", "quiet dim", "Click an element of the page to see what it is."));
      return;
    }
    const element = this.selected, known = this.finder.of(element);
    const list = made("dl", "facts");
    const row = (name, value) => list.append(made("dt", "", name), made("dd", "", value));
    row("tag", element.localName);
    for (const { name, value } of element.attributes)
      if (!["srcset", "srcdoc"].includes(name) && !(element.localName === "iframe" && name === "sandbox")) row(name, value.length > 300 ? `${value.slice(0, 300)}…` : value);
    const buttons = known.selectors.map((selector) => {
      const button = made("button", "button moment-use", selector);
      button.type = "button";
      button.title = "Try this selector";
      button.addEventListener("click", () => { this.field.value = selector; this.find(); });
      return made("li", "", button);
    });
    this.facts.replaceChildren(made("h2", "", `${known.role || element.localName}${known.name ? ` “${known.name}”` : ""}`), list,
      ...(buttons.length ? [made("h3", "", "Selectors that name it alone"), made("ul", "moment-selectors", ...buttons)] : []));
  }

  draw() {
    if (!this.marks || !this.built) return;
    const boxes = [...(this.matches || []).slice(0, MARKS).map((one) => [one, "match"]), [this.hovered, "hover"], [this.selected, "selected"]];
    this.marks.replaceChildren(...boxes.filter(([one]) => one).map(([one, kind]) => {
      const [x, y, width, height] = placeOf(this.built, one);
      const mark = document.createElementNS(SVG, "rect");
      for (const [name, value] of Object.entries({ x, y, width, height, class: kind })) mark.setAttribute(name, String(value));
      return mark;
    }));
  }
}
