// What the keys do, as the help tells it.

const KEYS = [
  [["space"], "play or pause"],
  [["j", "↓"], "next step"],
  [["k", "↑"], "step before"],
  [["n", "p"], "next, previous failed step"],
  [["g"], "the first difference of two runs"],
  [["←", "→"], "a second back, a second on"],
  [["<", ">"], "slower, faster"],
  [["1", "…", "6"], "step, model, network, console, tree, the page itself"],
  [["/"], "search; Enter goes there, Escape ends it"],
  [["a"], "all steps, or the actions alone"],
  [["s"], "skip periods without changes"],
  [["r"], "ring on the element"],
  [["?"], "these keys"],
];

const ACTS = {
  " ": (page) => page.toggle(),
  j: (page) => page.step(1), ArrowDown: (page) => page.step(1),
  k: (page) => page.step(-1), ArrowUp: (page) => page.step(-1),
  n: (page) => page.step(1, (entry) => page.failed(entry)),
  p: (page) => page.step(-1, (entry) => page.failed(entry)),
  g: (page) => page.part(),
  ArrowLeft: (page) => page.clock.seek(page.clock.now - 1),
  ArrowRight: (page) => page.clock.seek(page.clock.now + 1),
  Home: (page) => page.clock.seek(0),
  End: (page) => page.clock.seek(page.clock.duration),
  "<": (page) => page.faster(-1), ">": (page) => page.faster(1),
  "/": () => part("search").select(),
  a: (page) => { page.list(part("kinds").value === "all" ? "actions" : "all"); page.show(); },
  s: (page) => page.skip(),
  r: (page) => page.ring(),
  "?": (page) => page.help(),
};
["Step", "Model", "Network", "Console", "Tree", "Page"].forEach((name, place) => {
  ACTS[String(place + 1)] = (page) => page.panes.choose(name);
});

/** Arrows within a list of its own. */
function listKeys(container, choice) {
  container.addEventListener("keydown", (event) => {
    const last = choice.rows.items.length - 1, page = Math.max(1, Math.floor(container.clientHeight / choice.rows.height) - 1);
    const goal = {
      ArrowDown: choice.place + 1, ArrowUp: choice.place - 1, Home: 0, End: last,
      PageDown: choice.place + page, PageUp: choice.place - page,
    }[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choice.pick(Math.min(Math.max(goal, 0), last));
  });
}
