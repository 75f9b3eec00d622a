// Watch that a press reaches the element that was checked. Called with the functions of `eyes.js`; returns `arm`, which
// takes the guard's number, the element, and whether a press on another element is to be stopped before the page sees
// it, and `read`, which ends the listeners of a guard.
(eyes) => {
  const armed = new Map();
  const TEXT_ROLES = new Set(["textbox", "searchbox", "combobox", "spinbutton"]);

  function arm(number, el, { selectors, stops, words }) {
    const known = eyes.known(el, selectors, words);
    const view = el.ownerDocument.defaultView;
    const log = { pressed: 0, clicked: 0, beside: 0, stopped: 0, gone: false };
    const { tag, role, name, record } = known.fingerprint;
    const key = record && record.key;

    // The element that an event is for: the one that was checked, or one that stands in its place and is equal to it.
    const target = (event) => {
      const path = event.composedPath();
      if (path.includes(el)) return el;
      const label = path.find((one) => one.localName === "label" && one.control);
      if (label && label.control === el) return el;
      return path.find((one) => one.localName === tag && equal(one)) ?? null;
    };
    const equal = (one) => {
      if (eyes.roleOf(one) !== role || eyes.nameOf(one, selectors) !== name) return false;
      if (!key) return true;
      const now = eyes.recordOf(one, selectors);
      if (now === null || (record.twin && now.within !== record.within)) return false;
      return now.key === key || now.texts.includes(key);
    };

    // A press on a text field has done its work when the field has had the focus, though the page then covers it.
    const covered = (on, { clientX: x, clientY: y }) => {
      const { left, right, top, bottom } = on.getBoundingClientRect();
      return left <= x && x <= right && top <= y && y <= bottom && eyes.coverAt(on, x, y) !== null;
    };

    let stopping = false, down = null, captured = false, focused = false, handled = null;
    const seen = (event) => {
      if (!event.isTrusted) return;
      if (event.type === "focus") {
        focused ||= down !== null && event.composedPath()[0] === down;
        return;
      }
      if (event.type === "gotpointercapture") {
        captured ||= down !== null;
        return;
      }
      const first = event.type === "pointerdown" || event.type === "click";
      if (first) {
        const click = event.type === "click";
        const on = target(event) ?? (click && captured ? down : null);
        // What the press itself changed of the element does not count against the click.
        const right = on !== null && (!stops || (click && on === down) || equal(on));
        if (!click) [down, captured] = [right ? on : null, false];
        stopping = stops && (click ? stopping || !right : !right);
        if (!right) log.beside += 1;
        else if (click) log.clicked += 1;
        else {
          log.pressed += 1;
          focused = false;
          // Gone as soon as the page has handled the press: its own doing.
          handled = () => {
            handled = null;
            log.gone ||= !on.isConnected || (focused && TEXT_ROLES.has(role) && covered(on, event));
          };
          setTimeout(() => handled?.(), 0);
        }
      }
      if (stopping) {
        log.stopped += 1;
        event.stopImmediatePropagation();
        event.preventDefault();
      }
    };
    const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "gotpointercapture", "focus"];
    for (const kind of kinds) view.addEventListener(kind, seen, { capture: true });
    armed.set(number, () => {
      for (const kind of kinds) view.removeEventListener(kind, seen, { capture: true });
      handled?.(); // a busy page's timer may come later
      return log;
    });
    return known;
  }

  function read(number) {
    const end = armed.get(number);
    armed.delete(number);
    return end ? end() : null;
  }

  return { arm, read };
}
