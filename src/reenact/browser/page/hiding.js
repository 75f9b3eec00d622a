// Hide secrets before they are painted. Playwright runs this function in every document before the page's own code.
//
// One style sheet per document, adopted by the document and by each of its shadow roots, closed ones too. No element of
// the page is changed, except a secret field that no selector tells from its neighbours: it gets an inline style.
// A field is judged in the microtask after the change that made it, so before it is painted.
(eyes, { css, xpath, text }, EVENT) => {
  if (typeof CSSStyleSheet === "undefined" || !document.adoptedStyleSheets) return;
  const own = Function.prototype.call.bind(Function.prototype.call);
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name);
  const value = { input: getter(HTMLInputElement, "value").get, textarea: getter(HTMLTextAreaElement, "value").get };
  const shadowRoot = getter(Element, "shadowRoot").get;
  const { setProperty, getPropertyValue } = CSSStyleDeclaration.prototype;
  const inlineStyle = getter(HTMLElement, "style").get;
  const computedStyle = window.getComputedStyle;
  const PICTURE = /^(img|canvas|video)$/;
  const replaceSync = CSSStyleSheet.prototype.replaceSync;
  const all = { 1: Element.prototype, 9: Document.prototype, 11: DocumentFragment.prototype };
  const within = (root, selector) => own(all[root.nodeType].querySelectorAll, root, selector);

  // -------------------------------------------------------------------------------------------------- styles

  const TEXT = {
    "-webkit-text-security": "disc", "-webkit-text-fill-color": "transparent", "caret-color": "transparent",
    "color": "transparent", "text-shadow": "none", "text-decoration": "none", "-webkit-text-stroke": "0",
    "transition": "none",
  };
  const declared = (style) => Object.entries(style).map(([name, it]) => `${name}:${it}!important`).join(";");
  const DOTS = [...Array(8).keys()]
    .map((at) => `radial-gradient(circle at ${0.35 + at * 0.62}em 50%,#7d8794 .19em,transparent .21em)`).join(",");
  const FILLED = {
    "background-image": DOTS, "background-origin": "content-box", "background-clip": "content-box", "background-size": "auto",
    "background-position": "0 0", "background-repeat": "no-repeat",
  };
  const FIELDS = ":is(input,textarea,select)";
  const KINDS = ["cc-number", "cc-csc", "cc-exp", "cc-exp-month", "cc-exp-year", "cc-name", "cc-type", "cc-given-name",
    "cc-additional-name", "cc-family-name", "one-time-code", "current-password", "new-password"];

  const rulesOf = (plain) => [plain + ":not(#\\ #\\ #\\ )"].flatMap((which) => [ // above rules of the page's by id
    `${which}${FIELDS}{${declared(TEXT)}}`,
    `${which}${FIELDS}::selection{background:transparent!important;color:transparent!important}`,
    // An empty field shows its hint, which is the page's.
    `${which}${FIELDS}::placeholder{-webkit-text-fill-color:currentcolor!important;-webkit-text-security:none!important}`,
    // Pictures keep their box; all else keeps its place.
    `${which}:is(img,canvas,video){object-fit:none!important;object-position:-32000px -32000px!important;background:#8b949e!important}`,
    `${which}:not(input,textarea,select,img,canvas,video){filter:opacity(0)!important}`,
  ]);
  const named = new Set(css);
  const constant = [...rulesOf("input[type=password i]"),
    ...KINDS.flatMap((kind) => rulesOf(`:is(input,textarea)[autocomplete~="${kind}" i]:not([type=checkbox i],[type=radio i])`))];
  // If the page has broken what the rules rest on: no field shows its text.
  const strict = [...constant, ...rulesOf(":is(input:not([type=button i],[type=submit i],[type=reset i]),textarea,[contenteditable])")]
    .join("\n");
  const sheet = new CSSStyleSheet();
  let written = null;

  // ------------------------------------------------------------------------------------- secret fields, judged

  const MARKS = ["type", "name", "id", "data-testid", "data-test-id", "data-test", "aria-label", "placeholder", "title",
    "autocomplete", "aria-labelledby", "contenteditable"];
  const JUDGED = "input,textarea,[contenteditable]";
  const judged = new Set(); // of WeakRefs: the page's elements go when the page drops them
  const known = new WeakSet();
  const checked = new WeakMap(); // the rules with which an element was seen to be hidden
  const styled = new WeakMap(); // whether it was filled
  const quoted = (text) => `"${text.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\a ").replace(/[\r\f\0]/g, "")}"`;

  // The field's own attributes, as a selector.
  const told = (el) => el.localName + MARKS.map((name) =>
    el.hasAttribute(name) ? `[${name}=${quoted(el.getAttribute(name))}]` : `:not([${name}])`).join("");

  const judge = (el) => {
    if (known.has(el)) return;
    let secret = true; // if a page has broken what this rests on
    try { secret = eyes.secret(el, [...named]); } catch {}
    if (secret) add(el);
  };
  const add = (el) => {
    if (known.has(el)) return;
    known.add(el);
    judged.add(new WeakRef(el));
  };
  const filled = (el) => {
    try { return Boolean(own(value[el.localName], el)); } catch { return Boolean(el.textContent); }
  };

  // What the sheet must say now.
  const rules = () => {
    const found = new Map();
    for (const ref of judged) {
      const el = ref.deref();
      if (!el) { judged.delete(ref); continue; }
      if (!el.isConnected) continue;
      const which = told(el);
      const state = found.get(which) || { filled: false, alone: true };
      if (!state.checked) {
        state.checked = true;
        for (const other of within(el.getRootNode(), which)) if (!known.has(other)) state.alone = false;
      }
      state.filled ||= filled(el);
      found.set(which, state);
      if (!state.alone || styled.has(el)) paint(el, filled(el));
    }
    const made = [...named].flatMap((one) => rulesOf(`:is(${one})`));
    for (const [which, state] of found) {
      if (!state.alone) continue;
      made.push(...rulesOf(which));
      if (state.filled) made.push(`${which}${FIELDS}{${declared(FILLED)}}`);
    }
    return made;
  };
  const paint = (el, filled) => {
    if (styled.get(el) === filled) return;
    const style = own(inlineStyle, el);
    if (!el.matches(FIELDS)) own(setProperty, style, "filter", "opacity(0)", "important");
    else for (const [name, it] of Object.entries(TEXT)) own(setProperty, style, name, it, "important");
    if (el.matches(FIELDS) && (filled || styled.has(el)))
      for (const [name, it] of Object.entries(FILLED)) own(setProperty, style, name, filled ? it : "", "important");
    styled.set(el, filled);
  };

  // ----------------------------------------------------------------------------------------- roots, and their changes

  const roots = new Set();
  const adopted = {};
  for (const type of [Document, ShadowRoot]) {
    // The page may set its own sheets; ours stays the last.
    const known = getter(type, "adoptedStyleSheets");
    if (!known || !known.configurable) continue;
    adopted[type.name] = known;
    Object.defineProperty(type.prototype, "adoptedStyleSheets", { ...known, set(sheets) {
      own(known.set, this, roots.has(this) ? [...[...sheets].filter((one) => one !== sheet), sheet] : sheets);
    } });
  }
  const wear = (root) => {
    const { get, set } = adopted[root.nodeType === 9 ? "Document" : "ShadowRoot"] || {};
    if (!get) return void (root.adoptedStyleSheets.at(-1) === sheet || (root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]));
    const worn = [...own(get, root)];
    if (worn.at(-1) !== sheet) own(set, root, [...worn.filter((one) => one !== sheet), sheet]);
  };
  const watch = (root) => {
    if (roots.has(root)) return;
    roots.add(root);
    wear(root);
    observer.observe(root, { subtree: true, childList: true, characterData: text.length > 0, attributes: true, attributeOldValue: true, attributeFilter: [...MARKS, "style", "class", "for"] });
    look(root);
  };
  const look = (node) => {
    if (node.nodeType === 1) {
      if (node.matches(JUDGED)) judge(node);
      const root = own(shadowRoot, node);
      if (root) watch(root);
    }
    for (const el of within(node, "*")) {
      const name = el.localName;
      if (name === "input" || name === "textarea" || el.hasAttribute("contenteditable")) judge(el);
      else if (name === "label" && el.control) judge(el.control);
      const root = own(shadowRoot, el);
      if (root) watch(root);
    }
  };
  // Elements that the user names by other means than CSS.
  const search = () => {
    for (const one of xpath) {
      try {
        const found = document.evaluate(one, document, null, 7, null);
        for (let at = 0; at < found.snapshotLength; at++) if (found.snapshotItem(at).nodeType === 1) add(found.snapshotItem(at));
      } catch {}
    }
    for (const one of text) for (const root of roots) smallest(root, one);
  };
  const shows = (node, words) => (node.textContent || "").replace(/\s+/g, " ").toLowerCase().includes(words);
  const smallest = (node, words) => {
    const inner = [...node.children].filter((one) => !/^(script|style|head)$/.test(one.localName) && shows(one, words));
    inner.forEach((one) => smallest(one, words));
    if (!inner.length && node.nodeType === 1 && shows(node, words)) add(node);
  };
  const update = () => {
    search();
    for (const root of roots) {
      if (root.nodeType === 11 && !root.host.isConnected) continue;
      try { wear(root); } catch {}
    }
    const text = [...constant, ...rules(), ...(closed ? [`reenact-closed-${closed}{}`] : [])].join("\n");
    if (text !== written) {
      written = text;
      own(replaceSync, sheet, text);
    }
    verify();
    listen();
  };
  // Rules of the page's, as in a layer, may win against a sheet. None wins against an inline style.
  const verify = () => {
    for (const ref of judged) {
      const el = ref.deref();
      if (!el || !el.isConnected || styled.has(el) || checked.get(el) === written) continue;
      const style = own(computedStyle, window, el);
      if (el.matches(FIELDS) ? style.webkitTextFillColor !== "rgba(0, 0, 0, 0)" : !PICTURE.test(el.localName) && style.filter !== "opacity(0)")
        paint(el, filled(el));
      else checked.set(el, written);
    }
  };
  // The page has set the style of a field that has an inline one of ours.
  const restore = (el) => {
    const [what, it] = el.matches(FIELDS) ? ["-webkit-text-fill-color", "transparent"] : ["filter", "opacity(0)"];
    if (own(getPropertyValue, own(inlineStyle, el), what) !== it) styled.delete(el);
  };
  const changed = (records) => {
    for (const record of records) {
      const target = record.target;
      if (record.type === "characterData") continue;
      if (record.type === "attributes") {
        if (record.attributeName === "type" && record.oldValue === "password") add(target);
        if (record.attributeName === "style" || record.attributeName === "class") checked.delete(target);
        if (record.attributeName === "style" && styled.has(target)) restore(target);
        else if (target.matches(JUDGED)) judge(target);
        else if (target.localName === "label" && target.control) judge(target.control);
        continue;
      }
      for (const node of record.addedNodes) if (node.nodeType === 1) look(node);
      const label = target.nodeType === 1 && target.closest("label");
      if (label && label.control) judge(label.control);
    }
    update();
  };
  const safely = (act) => (given) => {
    try { act(given); } catch { own(replaceSync, sheet, (written = strict)); }
  };
  const observer = new MutationObserver(safely(changed));

  let closed = 0; // how many closed shadow roots were made: `moment.js` asks the browser for them
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = new Proxy(attach, { apply(target, host, given) {
    const root = Reflect.apply(target, host, given);
    try {
      if (root.mode === "closed") closed += 1;
      watch(root);
      if (root.mode === "closed") update();
    } catch {}
    return root;
  } });

  // ---------------------------------------------------------------------------------------------------- events

  const typed = safely((event) => {
    const el = event.composedPath()[0];
    if (el && el.nodeType === 1 && el.matches(JUDGED)) judge(el);
    update();
  });
  // Reenact names an element, or CSS selectors, that hold a secret from now on.
  const hide = safely((event) => {
    const el = event.composedPath()[0];
    if (Array.isArray(event.detail)) event.detail.forEach((one) => named.add(String(one)));
    else if (el && el.nodeType === 1) add(el);
    update();
  });
  const rescan = safely(() => { look(document); update(); });
  const loaded = (event) => {
    const name = event.target.localName; // of a picture, nothing changes
    if (name === "link" || name === "style") for (const ref of judged) checked.delete(ref.deref() ?? ref);
    if (!name || name === "link" || name === "style") rescan();
  };
  // A document that is opened again for writing has lost its listeners.
  const listen = () => {
    for (const name of ["beforeinput", "input", "change", "focusin", "focusout", "reset"]) addEventListener(name, typed, true);
    addEventListener(EVENT, hide, true);
    for (const name of ["DOMContentLoaded", "load", "pageshow"]) addEventListener(name, loaded, true);
  };

  watch(document);
  update();
}
