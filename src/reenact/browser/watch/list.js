// Lists of any length: only the rows in sight are on the page.

const SPARE = 6;

class Rows {
  /** `render(item, place)` gives a row's element; all rows are `height` high. */
  constructor(container, height, render) {
    this.container = container;
    this.height = height;
    this.render = render;
    this.items = [];
    this.known = new Map();
    this.space = make("div");
    this.space.setAttribute("role", "presentation");
    container.replaceChildren(this.space);
    container.addEventListener("scroll", () => this.draw(), { passive: true });
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(container);
  }

  fill(items) {
    this.items = items;
    this.space.style.height = `${items.length * this.height}px`;
    this.refresh();
  }

  refresh() {
    for (const element of this.known.values()) element.remove();
    this.known.clear();
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.container.scrollTop / this.height) - SPARE);
    const shown = Math.ceil((this.container.clientHeight || 600) / this.height) + 2 * SPARE;
    const last = Math.min(this.items.length, first + shown);
    for (const [place, element] of this.known) {
      if (place < first || place >= last) {
        element.remove();
        this.known.delete(place);
      }
    }
    for (let place = first; place < last; place++) if (!this.known.has(place)) this.add(place);
  }

  add(place) {
    const element = this.render(this.items[place], place);
    element.style.top = `${place * this.height}px`;
    element.setAttribute("aria-posinset", String(place + 1));
    element.setAttribute("aria-setsize", String(this.items.length));
    this.known.set(place, element);
    this.space.append(element);
  }

  element(place) { return this.known.get(place); }

  /** Scroll a row into sight: to the middle, where it is out of it. */
  reveal(place) {
    const top = place * this.height, box = this.container;
    const hidden = top < box.scrollTop || top + this.height > box.scrollTop + box.clientHeight;
    if (hidden) box.scrollTop = Math.max(0, top - (box.clientHeight - this.height) / 2);
    this.draw();
  }
}

/** A list of rows of which one is chosen, by mouse and by keys. */
class Choice {
  constructor(container, height, render, chosen) {
    this.place = -1;
    this.chosen = chosen;
    this.container = container;
    this.rows = new Rows(container, height, (item, place) => this.option(render(item, place), place));
    container.addEventListener("click", (event) => {
      const row = event.target.closest("[data-place]");
      if (row) this.pick(Number(row.dataset.place));
    });
  }

  option(element, place) {
    element.id = `${this.container.id}-${place}`;
    element.dataset.place = String(place);
    element.setAttribute("role", "option");
    element.setAttribute("aria-selected", String(place === this.place));
    return element;
  }

  fill(items, place = -1) {
    this.place = place;
    this.rows.fill(items);
    this.point();
  }

  /** Mark a row as the chosen one, without a word to anybody. */
  mark(place) {
    if (place === this.place) return;
    const before = this.rows.element(this.place);
    if (before) before.setAttribute("aria-selected", "false");
    this.place = place;
    if (place >= 0) this.rows.reveal(place);
    const now = this.rows.element(place);
    if (now) now.setAttribute("aria-selected", "true");
    this.point();
  }

  point() {
    if (this.place >= 0) this.container.setAttribute("aria-activedescendant", `${this.container.id}-${this.place}`);
    else this.container.removeAttribute("aria-activedescendant");
  }

  pick(place) {
    if (place < 0 || place >= this.rows.items.length) return;
    this.mark(place);
    this.chosen(this.rows.items[place], place);
  }
}
