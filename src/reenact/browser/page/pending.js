// Note the timers that a document's scripts have set, to tell if the page may still change by itself. An event asks for
// them: it gets the milliseconds until each fires. A timer like one that has fired since the user's last input is a clock
// or a poll, and is left out, as intervals and an animation's short timers are.
(asking) => {
  const [SHORT, KEPT, SOURCE] = [100, 1000, 300];
  const due = new Map();  // when a timer fires, by its id
  const first = new Map();  // when the first one of a kind fires, by its delay and source
  const source = Function.prototype.toString;
  const now = performance.now.bind(performance);

  const note = (id, handler, delay) => {
    if (!(delay >= SHORT)) return;
    const text = typeof handler === "function" ? source.call(handler) : String(handler);
    const kind = `${delay} ${text.length} ${text.slice(0, SOURCE)}`;
    const at = now() + delay;
    if (first.get(kind) <= now()) return;
    if (first.size >= KEPT) first.clear();
    if (!first.has(kind)) first.set(kind, at);
    if (due.size >= KEPT) for (const [one, when] of due) if (when <= now()) due.delete(one);
    if (due.size < KEPT) due.set(id, at);
  };
  const setting = {
    apply(set, self, args) {
      const id = Reflect.apply(set, self, args);
      try {
        note(id, args[0], Number(args[1]));
      } catch {
        // what the page gave has no text or number
      }
      return id;
    },
  };
  const clearing = {
    apply(clear, self, args) {
      due.delete(args[0]);
      return Reflect.apply(clear, self, args);
    },
  };
  window.setTimeout = new Proxy(window.setTimeout, setting);
  window.clearTimeout = new Proxy(window.clearTimeout, clearing);
  window.clearInterval = new Proxy(window.clearInterval, clearing);

  const input = (event) => {
    if (event.isTrusted) first.clear();
  };
  for (const kind of ["pointerdown", "keydown", "input", "popstate"]) window.addEventListener(kind, input, true);
  document.addEventListener(asking, (event) => {
    event.stopImmediatePropagation();
    for (const at of due.values()) if (at > now()) event.detail.push(at - now());
  }, true);
}
