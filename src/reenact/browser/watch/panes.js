// What stands beside the screen about the step in hand: what was done, what the model said, network, console, tree.

const LINE = 26;

/** From a step's beginning to the next one's: what happened then is what it brought about. */
function stretch(side, place) {
  const row = side.rows[place];
  if (!row) return [0, 0];
  const next = side.rows.find((other, at) => at > place && other.t > row.t && (!row.acts || other.acts));
  return [row.t, next ? next.t : Infinity];
}

function within(items, [from, to]) {
  return items.filter((item) => item.t >= from && item.t < to);
}

function facts(rows) {
  const list = make("dl");
  for (const [name, value] of rows) if (value) list.append(make("dt", "", name), make("dd", "", value));
  return list;
}

function titled(title, ...inside) {
  return [make("h3", "", title), ...inside];
}

function values(rows) {
  return rows.flatMap(([name, value]) => {
    const long = value.includes("\n") || value.length > 200;
    return [make("dt", "", name), make("dd", "", long ? make("pre", "", value) : value)];
  });
}

// -- the step ------------------------------------------------------------------------------------------------

function stepPane(side, place, entry, which) {
  const row = side.rows[place];
  if (!row) return [make("p", "dim", "This run has no such step.")];
  const status = row.status === "ok" ? "good" : row.status === "failed" ? "bad" : "";
  const badges = make("p", actorOf({ ...row, status: "" }), make("span", `badge ${status}`, row.status));
  if (row.actor) badges.append(make("span", "badge", row.actor));
  if (row.edited) badges.append(make("span", "badge", "edited answer"));
  badges.append(make("span", "dim", `${clockText(row.t)}, ${row.end === null ? "never done" : `took ${lengthText(row.end - row.t)}`}`));
  const parts = [make("h2", "", `${row.n ? `${row.n}. ` : ""}${row.title}`), badges];
  if (row.message) parts.push(row.status === "failed" ? whyOf(row) : make("p", "", row.message));
  parts.push(facts([["page", row.url], ["line", row.line], ["tab", row.tab ? String(row.tab) : ""]]));
  parts.push(...differencesOf(entry, which));
  if (row.fields && row.fields.length) parts.push(...titled(row.kind === "browser" ? "Action" : "Asked", dl(row.fields)));
  if (row.gave) parts.push(...titled("Gave", make("pre", "", row.gave)));
  if (row.why && row.why.length && row.status !== "failed") parts.push(...titled("Looked into", dl(row.why)));
  if (row.selectors && row.selectors.length) parts.push(...titled("How to find the element again", dl(row.selectors)));
  return parts;
}

function dl(rows) {
  const list = make("dl");
  list.append(...values(rows));
  return list;
}

function whyOf(row) {
  const box = make("div", "why", make("p", "", row.message));
  if (row.why && row.why.length) box.append(dl(row.why));
  return box;
}

function differencesOf(entry, which) {
  if (!entry || !entry.differences.length) return [];
  const parts = entry.differences.map(([path, ...sides]) => {
    const value = sides[which];
    const told = value === null ? make("span", "dim", "nothing there") : make(which ? "ins" : "del", "mono", value);
    return make("div", "difference", make("code", "", path), told);
  });
  return titled("Differs from the other run", ...parts);
}

// -- the model -----------------------------------------------------------------------------------------------

function modelPane(side, place) {
  const row = side.rows[place];
  if (!row) return [make("p", "dim", "This run has no such step.")];
  const calls = modelRows(side.rows, place);
  if (!calls.length) return [make("p", "dim", "No model was asked before this step.")];
  return calls.flatMap((call) => [
    make("h2", "", `${call.n ? `${call.n}. ` : ""}${call.model || call.name}`),
    make("p", "dim", `${clockText(call.t)}, ${lengthText(call.end === null ? null : call.end - call.t)}`
      + (call.known ? `, ${call.known} message${call.known === 1 ? "" : "s"} as before, and:` : "")),
    ...call.said.map((message) => messageOf(message, side, call)),
  ]);
}

/** The model calls that led to a step: those since the action before it. */
function modelRows(rows, place) {
  if (rows[place].said) return [rows[place]];
  const found = [];
  for (let at = place - 1; at >= 0 && !rows[at].acts; at--) if (rows[at].said) found.unshift(rows[at]);
  return found;
}

function messageOf(message, side, call) {
  const box = make("div", message.answer ? "message answer" : "message", make("b", "", message.role));
  if (message.thinking) box.append(make("div", "text thinking", message.thinking));
  if (message.text) box.append(make("div", "text", message.text));
  box.append(...(message.pictures || []).map((place) => imageOf(side, call, place)));
  for (const [name, given] of message.calls || []) box.append(make("pre", "", `${name}(${given})`));
  return box;
}

/** A picture of a message. Its bytes alone say what kind it is. */
function imageOf(side, call, place) {
  side.held ??= (dataOf(`images-${side.number}`) || "").split("\n");
  const line = side.held[side.images.findIndex(([step, at]) => step === call.n && at === place)];
  if (!line) return make("p", "dim", "A picture is left out: the page is full.");
  const image = make("img", "shown");
  image.src = `data:image/png;base64,${line}`;
  image.alt = `Step ${call.n}, number ${place + 1}`;
  return image;
}

// -- network and console -------------------------------------------------------------------------------------

/** A list beside a step: that step's own items, or all of them; one of them can be opened. */
class Log {
  constructor(panes, name, line, more) {
    Object.assign(this, { panes, name, line, more, whole: false });
  }

  items(side, place) {
    const items = side[this.name] || [];
    return this.whole ? items : within(items, stretch(side, place));
  }

  fill(column, side, place, which) {
    const items = this.items(side, place), all = (side[this.name] || []).length;
    const button = make("button", "", this.whole ? "Only this step's" : `All ${all}`);
    button.type = "button";
    button.addEventListener("click", () => {
      this.whole = !this.whole;
      this.panes.refresh();
      document.querySelector(".tools button")?.focus();
    });
    const told = this.whole ? `${all} in the whole session` : `${items.length} in this step`;
    const box = make("div", "rows"), more = make("div", "more");
    Object.assign(box, { id: `${this.name}-${which}`, tabIndex: 0, role: "listbox", ariaLabel: this.name });
    more.hidden = true;
    column.classList.add("flat");
    column.replaceChildren(make("div", "tools", make("span", "", told), button), box, more);
    const choice = new Choice(box, LINE, this.line, (item) => {
      more.hidden = false;
      more.replaceChildren(...this.more(item));
      more.scrollTop = 0;
    });
    choice.fill(items);
    listKeys(box, choice);
    return choice;
  }
}

function networkLine(item) {
  const bad = item.failed || item.status >= 400;
  const line = make("div", bad ? "line bad" : "line",
    make("span", "time", clockText(item.t)), make("span", "status mono", String(item.status ?? (item.failed ? "✕" : "…"))),
    make("span", "word", item.method), make("span", "grow mono", item.url), make("span", "dim", item.type || ""),
    make("span", "right", sizeText(item.size)), make("span", "right", item.ms === null || item.ms === undefined ? "" : lengthText(item.ms / 1000)));
  line.title = item.url;
  return line;
}

function networkMore(item) {
  const parts = [make("p", "mono", `${item.method} ${item.url}`)];
  if (item.failed) parts.push(make("div", "why", make("p", "", item.failed)));
  const texts = [["Request", item.asked], ["Sent", item.post], ["Response", item.answered], ["Body", item.body]];
  for (const [title, text] of texts) if (text) parts.push(...titled(title, make("pre", "", text)));
  return parts;
}

function consoleLine(item) {
  const kind = item.level === "error" || item.level === "crash" ? "line bad" : item.level === "warning" ? "line odd" : "line";
  return make("div", kind, make("span", "time", clockText(item.t)), make("span", "word", item.level),
    make("span", "grow mono", item.text), make("span", "dim", item.where.split("/").pop()));
}

function consoleMore(item) {
  return [make("pre", "", item.text), make("p", "dim mono", item.where)];
}

// -- the accessibility tree ----------------------------------------------------------------------------------

function readAt(side, t) {
  const reads = side.reads || [];
  return reads.length ? reads[Math.max(0, lastAt(reads, t, (read) => read[0]))] : null;
}

function treePane(side, place, entry, which, t) {
  const read = readAt(side, t);
  if (!read) return [make("p", "dim", "No accessibility tree was read.")];
  const word = read[0] > t ? "first read at" : "as read at";
  return [make("p", "dim", `${word} ${clockText(read[0])}`), make("pre", "", side.trees[read[1]])];
}

// -- the page itself ------------------------------------------------------------------------------------------

/** Return the value of packed JSON, as the page was written with it. */
async function inflated(line) {
  return JSON.parse(await (await unpacked(new Blob([bytesOf(line)]), "gzip")).text());
}

/** The pages themselves of one side, unpacked when they are shown. */
class Moments {
  constructor(side, number) {
    this.side = side;
    this.lines = (dataOf(`moments-${number}`) || "").split("\n");
    this.packed = (dataOf(`parts-${number}`) || "").split("\n");
    this.parts = new Map();
    this.view = new MomentView(ENGINE);
  }

  show(t) {
    const place = this.side.places[Math.max(0, lastAt(this.side.places, t, (item) => item.t))];
    const own = this.side.moments.filter((each) => !place || each.tab === place.front);
    const now = own[Math.max(0, lastAt(own, t, (each) => each.t))];
    const when = now ? `${now.t > t ? "first kept at" : "as at"} ${clockText(now.t)}` : "";
    this.view.show(now ? now.page : null, () => this.load(now.page), when);
  }

  async load(page) {
    if (!this.lines[page]) throw new Error("This moment is lost, or left out of the page.");
    const moment = await inflated(this.lines[page]);
    return { ...moment, parts: await Promise.all(moment.parts.map((one) => this.part(one))) };
  }

  part(number) {
    if (!this.parts.has(number)) this.parts.set(number, this.packed[number] ? inflated(this.packed[number]) : "");
    return this.parts.get(number);
  }
}

// -- all of them ---------------------------------------------------------------------------------------------

class Panes {
  constructor(sides, tabs, panel) {
    this.sides = sides;
    this.panel = panel;
    this.columns = sides.map(() => make("div", "column"));
    panel.replaceChildren(...this.columns);
    this.watcher = new ResizeObserver(() => this.reach());
    this.columns.forEach((column) => this.watcher.observe(column));
    this.names = ["Step", "Model", "Network", "Console", "Tree"];
    this.moments = sides.map((side, number) => (MomentView && side.moments.length ? new Moments(side, number) : null));
    if (this.moments.some(Boolean)) this.names.push("Page");
    this.logs = {
      Network: new Log(this, "network", networkLine, networkMore),
      Console: new Log(this, "console", consoleLine, consoleMore),
    };
    this.texts = { Step: stepPane, Model: modelPane, Tree: treePane };
    this.tabs = this.names.map((name) => this.tab(name));
    tabs.append(...this.tabs);
    tabs.addEventListener("keydown", (event) => this.key(event));
    this.keys = [];
    this.choose("Step");
  }

  tab(name) {
    const button = make("button", "", name, make("span", "many"));
    Object.assign(button, { type: "button", id: `tab-${name}`, role: "tab" });
    button.setAttribute("aria-controls", this.panel.id);
    button.addEventListener("click", () => this.choose(name));
    return button;
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const many = this.names.length;
    const place = (this.names.indexOf(this.name) + step + many) % many;
    this.choose(this.names[place]);
    this.tabs[place].focus();
  }

  choose(name) {
    if (!this.names.includes(name)) return;
    this.name = name;
    document.body.classList.toggle("paged", name === "Page");
    this.tabs.forEach((tab, place) => {
      const own = this.names[place] === name;
      tab.setAttribute("aria-selected", String(own));
      tab.tabIndex = own ? 0 : -1;
    });
    this.panel.setAttribute("aria-labelledby", `tab-${name}`);
    this.refresh();
  }

  refresh() {
    this.keys = [];
    this.counted = null;
    if (this.shown) this.show(...this.shown);
  }

  /** Show what belongs to an entry of the list; `times` are the sides' own. */
  show(entry, times) {
    this.shown = [entry, times];
    this.sides.forEach((side, which) => {
      const place = entry ? entry.rows[which] : null;
      const read = this.name === "Tree" ? readAt(side, times[which]) : null;
      const key = this.name === "Page" ? "Page" : `${this.name} ${place} ${this.sides.length > 1 && this.name === "Step" ? entry && entry.at : ""} ${read && read[0]}`;
      if (this.keys[which] !== key) {
        this.keys[which] = key;
        this.fill(this.columns[which], side, place, entry, which, times[which]);
        this.reach();
      }
      if (this.name === "Page") this.moments[which]?.show(times[which]);
    });
    this.count(entry);
  }

  /** A column that scrolls is reached by Tab. */
  reach() {
    for (const column of this.columns) {
      if (column.scrollHeight > column.clientHeight) column.tabIndex = 0;
      else column.removeAttribute("tabindex");
    }
  }

  fill(column, side, place, entry, which, t) {
    column.className = "column";
    column.scrollTop = 0;
    const log = this.logs[this.name], kept = this.moments[which];
    if (this.name === "Page") column.replaceChildren(kept ? kept.view.element : make("p", "dim", "The page itself was not kept here."));
    else if (log) log.fill(column, side, place, which);
    else column.replaceChildren(...this.texts[this.name](side, place, entry, which, t));
  }

  count(entry) {
    if (entry === this.counted) return;
    this.counted = entry;
    for (const [name, alarm] of [["Network", (item) => item.failed || item.status >= 400], ["Console", (item) => item.level === "error"]]) {
      const items = this.sides.flatMap((side, which) => (
        entry && entry.rows[which] !== null ? within(side[name.toLowerCase()] || [], stretch(side, entry.rows[which])) : []));
      const many = this.tabs[this.names.indexOf(name)].querySelector(".many");
      many.textContent = items.length ? String(items.length) : "";
      many.classList.toggle("alarm", items.some(alarm));
    }
  }
}
