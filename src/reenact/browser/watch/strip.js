// The actions as a strip of small pictures, each with the page as the action left it.

class Strip {
  /** `chosen(entry)` goes to an entry. */
  constructor(sides, container, chosen) {
    this.container = container;
    this.chosen = chosen;
    this.pictures = sides.map((side, number) => {
      const lines = (dataOf(`thumbnails-${number}`) || "").split("\n");
      return new Map((side.thumbnails || []).map((row, place) => [row, lines[place]]));
    });
    this.known = new Map();
  }

  /** Show the entries of which there is a picture. The list has the keys and the names: this is the same in pictures. */
  fill(entries, title, failed) {
    this.known.clear();
    for (const entry of entries) {
      const line = entry.rows.map((row, side) => this.pictures[side]?.get(row)).find(Boolean);
      if (!line) continue;
      const image = make("img");
      image.alt = "";
      image.loading = "lazy";
      image.src = `data:image/jpeg;base64,${line}`;
      const element = make("div", failed(entry) ? "thumbnail bad" : "thumbnail", image, make("span", "clip", title(entry)));
      element.title = title(entry);
      element.addEventListener("click", () => this.chosen(entry));
      this.known.set(entry, element);
    }
    this.container.replaceChildren(...this.known.values());
    this.container.hidden = this.known.size < 2;
  }

  mark(entry) {
    if (entry === this.entry) return;
    this.known.get(this.entry)?.classList.remove("here");
    this.entry = entry;
    const element = this.known.get(entry), box = this.container;
    if (!element) return;
    element.classList.add("here");
    const left = element.offsetLeft - box.offsetLeft;
    if (left < box.scrollLeft || left + element.offsetWidth > box.scrollLeft + box.clientWidth) {
      box.scrollLeft = left - (box.clientWidth - element.offsetWidth) / 2;
    }
  }
}
