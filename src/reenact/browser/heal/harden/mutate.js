// Small changes to a page, as a redesign makes them, in a world of their own where the page's scripts do not see them.
// One element is the one that is meant; it is remembered here alone: no attribute, no global of the page's tells it.
//
// The page must go on working: where something is done to an element, what was changed is put back for the length of
// the event, so that the page's own code, which knows the old names, finds them: a site that is redesigned changes its
// code too. The choice of the element is made by then.
((request) => {
  const TEXTS = [
    ["sign in", "log in"], ["log in", "sign in"], ["login", "sign in"], ["add to basket", "add to cart"],
    ["proceed to checkout", "go to checkout"], ["place order", "order now"], ["submit", "send"], ["save", "store"],
    ["search", "find"], ["continue", "go on"], ["next", "forward"], ["cancel", "dismiss"], ["delete", "remove"],
    ["remove", "delete"], ["close", "dismiss"], ["register", "create account"], ["reply", "answer"],
    ["edit", "change"], ["ok", "all right"], ["username", "user name"], ["password", "pass word"],
    ["email", "e-mail"], ["first name", "given name"], ["last name", "surname"], ["postcode", "ZIP code"],
    ["state/county", "region"], ["what needs to be done", "what is to be done"], ["click me", "click here"],
    ["check", "verify"], ["generate", "make"], ["send", "submit"], ["buy", "purchase"], ["book", "reserve"],
  ];
  const OTHERS = ["Help", "Preview", "Reset", "Back", "Print", "Settings"];
  const FIELDS = new Set(["input", "textarea", "select"]);
  const NO_WRAP = new Set(
    "td th tr tbody thead tfoot caption col li dt dd option optgroup legend summary source area html body".split(" "));
  const STOPS = new Set(["form", "fieldset", "dialog", "li", "tr", "td", "table", "ul", "ol", "body", "label", "nav"]);
  const WORN = ["id", "class"];
  const REFERENCES = ["for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns"];
  const EVENTS = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "keydown", "keypress", "keyup",
    "beforeinput", "input", "change", "submit", "focusin"];
  const ACTS = new Set(["click", "input", "change"]);

  const memory = (globalThis.hardening ??= {
    target: null, ours: new WeakSet(), names: [], shapes: [], over: false, listening: false, pressed: false, back: null, stand: null,
  });

  const draws = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const draw = draws(request.seed | 0);
  const one = (many) => many[Math.floor(draw() * many.length)];
  const fresh = () => one(["css-", "x", "sc-", "v2-"]) + Array.from({ length: 6 }, () => one([..."abcdefghkmnpqrstuvwxyz"])).join("");
  const tidy = (text) => (text || "").replace(/\s+/g, " ").trim();
  const tagOf = (el) => el.localName;
  const typeOf = (el) => (tagOf(el) === "input" ? (el.getAttribute("type") || "text").toLowerCase() : "");
  const pressed = (el) => ["submit", "button", "reset"].includes(typeOf(el));
  const svg = (el) => el.namespaceURI === "http://www.w3.org/2000/svg";
  const visible = (el) => el.getClientRects().length > 0 && getComputedStyle(el).visibility !== "hidden";
  const labelOf = (el) => el.closest("label") || (el.id && el.getRootNode().querySelector(`label[for="${CSS.escape(el.id)}"]`)) || null;

  // What a person would call it by: what it says, or what stands beside it.
  function calledOf(el) {
    if (pressed(el)) return tidy(el.value || { submit: "Submit", reset: "Reset" }[typeOf(el)]);
    const label = FIELDS.has(tagOf(el)) && labelOf(el);
    const said = label ? tidy(label.textContent) : FIELDS.has(tagOf(el)) ? "" : tidy(el.textContent);
    return said || tidy(el.getAttribute("aria-label")) || tidy(el.placeholder) || tidy(el.title) || tidy(el.alt);
  }
  const twins = (el) => {
    const called = calledOf(el).toLowerCase();
    return [...document.querySelectorAll(tagOf(el))].some(
      (other) => other !== el && !el.contains(other) && !other.contains(el) && typeOf(other) === typeOf(el) &&
        visible(other) && calledOf(other).toLowerCase() === called);
  };

  // ---------------------------------------------------------------------------- what is changed, and put back

  function attribute(el, name, value) {
    const old = el.getAttribute(name);
    if (old === value) return;
    memory.names.push({ el, name, old, now: value });
    write(el, name, value);
  }
  const write = (el, name, value) => (value === null ? el.removeAttribute(name) : el.setAttribute(name, value));
  function words(node, text) {
    memory.names.push({ node, old: node.data, now: text });
    node.data = text;
  }
  const put = ({ el, node, name }, value) => (node ? (node.data = value) : write(el, name, value));
  const restore = () => [...memory.names].reverse().forEach((change) => put(change, change.old));
  const again = () => memory.names.forEach((change) => put(change, change.now));
  function into(parent, node, before) {
    // It keeps the focus and what is under way, where the browser can.
    if (parent.moveBefore && node.isConnected && parent.isConnected) parent.moveBefore(node, before);
    else parent.insertBefore(node, before);
  }
  function unshape() {
    for (const back of memory.shapes.splice(0).reverse()) back();
  }

  function heard(event) {
    const path = event.composedPath();
    const labelled = path.some((node) => node.localName === "label" && node.control && node.control === memory.target);
    const controls = [...(path[0].labels || [])].includes(memory.target);
    const met = path.includes(memory.target) || labelled || controls;
    // The press itself puts the old names back: where that moves the element from under the pointer, the click falls on
    // what is around it, and the one that was pressed is still the one that was meant.
    if (event.type === "pointerdown") memory.pressed = met;
    const slipped = !met && event.type === "click" && event.isTrusted && memory.pressed && path[0].contains(memory.target);
    const hit = met || slipped;
    const ours = path.some((node) => memory.ours.has(node));
    // A field that was filled before says "change" when it loses the focus: nobody acted on it then.
    const acts = ACTS.has(event.type) && (event.isTrusted || event.type !== "click") && (hit || event.type !== "change");
    if (acts)
      tell({ type: event.type, hit, ours, trusted: event.isTrusted, what: spoken(path[0]) });
    if (ours) return;
    restore();
    if (hit && event.type !== "focusin") memory.over = true;
    if (!memory.over || hit) setTimeout(() => (memory.over ? afterwards() : again()), 0);
    if (hit && event.type === "click") {
      const own = slipped ? memory.target : memory.back;
      unshape();
      if (own && event.isTrusted) {
        event.stopImmediatePropagation();
        event.preventDefault();
        own.click();
      }
    }
  }
  // The element in words, with the first text of its record.
  function spoken(el) {
    const record = recordOf(el);
    const key = record === el ? "" : tidy([...record.querySelectorAll("*")].map((inner) => inner.childElementCount ? "" : tidy(inner.textContent))
      .find((text) => /[\p{L}\d]/u.test(text) && text !== calledOf(el)) || "");
    const said = `${{ a: "link", input: "field" }[tagOf(el)] || tagOf(el)} ${calledOf(el)}`.trim();
    return (key ? `${said} of "${key.slice(0, 40)}"` : said).slice(0, 120);
  }
  // What is shown is as the redesign has it again; ids and classes, and what refers to them, stay, for code of the page's that comes later.
  function afterwards() {
    for (const change of memory.names)
      if (!WORN.includes(change.name) && !REFERENCES.includes(change.name) && (change.node ? change.node.data : change.el.getAttribute(change.name)) === change.old)
        put(change, change.now);
    if (memory.back?.isConnected && memory.stand) memory.back.replaceWith(memory.stand);
  }
  const tell = (what) => globalThis.reenactHit?.(JSON.stringify(what));

  function listen() {
    if (memory.listening) return;
    memory.listening = true;
    // On the document: what watches a press on the window, before the page's own code, sees the changed page.
    for (const type of EVENTS) document.addEventListener(type, heard, true);
  }

  // ------------------------------------------------------------------------------------------- the mutations

  const rules = (list, names) => {
    for (const rule of list) {
      if (rule.cssRules?.length) rules(rule.cssRules, names);
      if (!rule.selectorText) continue;
      const renamed = rule.selectorText.replace(/([.#])((?:[\w-]|\\.)+)/g, (whole, mark, name) =>
        names.has(mark + name) ? mark + names.get(mark + name) : whole);
      if (renamed !== rule.selectorText) rule.selectorText += ", " + renamed;
    }
  };

  function rename(el) {
    const names = new Map();
    const family = [el, ...el.querySelectorAll("*")].slice(0, 12);
    for (let at = el.parentElement, many = 0; at && at !== document.body && many < 3; at = at.parentElement, many++) family.push(at);
    for (const member of family) {
      if (member.id) names.set("#" + member.id, fresh());
      for (const name of member.classList) names.set("." + name, names.get("." + name) || fresh());
    }
    if (!names.size) return null;
    for (const sheet of document.styleSheets) {
      try { rules(sheet.cssRules, names); } catch { /* another origin's */ }
    }
    for (const other of document.querySelectorAll("[id],[class],[for],[aria-labelledby],[aria-controls],[aria-describedby]")) {
      if (other.id && names.has("#" + other.id)) attribute(other, "id", names.get("#" + other.id));
      const worn = [...other.classList];
      if (worn.some((name) => names.has("." + name)))
        attribute(other, "class", worn.map((name) => names.get("." + name) || name).join(" "));
      for (const name of REFERENCES)
        if (other.hasAttribute(name)) {
          const value = other.getAttribute(name).split(/\s+/).map((id) => names.get("#" + id) || id).join(" ");
          if (value !== tidy(other.getAttribute(name))) attribute(other, name, value);
        }
    }
    return `${names.size} ids and classes have other names`;
  }

  function wrap(el) {
    let inner = el;
    while (inner && (NO_WRAP.has(tagOf(inner)) || (svg(inner) && tagOf(inner) !== "svg"))) inner = inner.parentElement;
    if (!inner || inner === document.body || !inner.parentElement) return null;
    const many = 1 + Math.floor(draw() * 3);
    for (let number = 0; number < many; number++) {
      const box = document.createElement(getComputedStyle(inner).display.startsWith("inline") ? "span" : "div");
      box.className = fresh();
      box.style.display = "contents";
      const kept = inner;
      const parent = kept.parentNode;
      parent.insertBefore(box, kept);
      into(box, kept, null);
      memory.shapes.push(() => { if (box.isConnected) { into(box.parentNode, kept, box); box.remove(); } });
      inner = box;
    }
    return `wrapped in ${many} more`;
  }

  function move(el) {
    if (svg(el) || twins(el) || !calledOf(el)) return null;
    const label = labelOf(el);
    const unit = label && label.contains(el) ? label : el;
    const beside = label && unit === el ? label : null;
    if (FIELDS.has(tagOf(el)) && !pressed(el) && !label && !el.placeholder && !el.getAttribute("aria-label")) return null;
    const parent = unit.parentElement;
    const place = (node, to, before) => {
      const from = node.parentNode, next = node.nextSibling;
      into(to, node, before);
      memory.shapes.push(() => from.isConnected && into(from, node, next?.parentNode === from ? next : null));
    };
    const others = [...parent.children].filter((other) => other !== unit && other !== beside && !["script", "style"].includes(tagOf(other)));
    const cell = ["td", "th", "tr", "option", "li"].includes(tagOf(unit));
    if (others.length && (cell || draw() < 0.5)) {
      const later = unit.compareDocumentPosition(others[0]) & Node.DOCUMENT_POSITION_FOLLOWING;
      const before = later ? null : others[0];
      if (beside && beside.parentElement === parent) place(beside, parent, before);
      place(unit, parent, before);
      return `moved to the ${before ? "first" : "last"} place among its neighbours`;
    }
    if (cell || STOPS.has(tagOf(parent))) return null;
    let home = parent;
    for (let up = 0; up < 2 && home.parentElement && !STOPS.has(tagOf(home)); up++) home = home.parentElement;
    if (home === parent || home === document.body && parent.parentElement !== document.body) return null;
    const box = document.createElement("div");
    box.className = fresh();
    home.insertBefore(box, draw() < 0.5 ? home.firstChild : null);
    memory.shapes.push(() => box.remove());
    if (beside) place(beside, box, null);
    place(unit, box, null);
    return "moved to another container";
  }

  function shown(el) {
    // Where its name stands: a text node, or an element and its attribute.
    if (pressed(el)) return el.hasAttribute("value") ? { el, name: "value" } : null;
    const holder = FIELDS.has(tagOf(el)) ? labelOf(el) : el;
    if (holder) {
      const walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
      let best = null;
      while (walker.nextNode())
        if (tidy(walker.currentNode.data) && (!best || tidy(walker.currentNode.data).length > tidy(best.data).length) &&
            !walker.currentNode.parentElement.closest("select,textarea,script,style"))
          best = walker.currentNode;
      if (best) return { node: best };
    }
    const name = ["placeholder", "aria-label", "title"].find((one) => tidy(el.getAttribute(one)));
    return name ? { el, name } : null;
  }
  const cased = (like, text) =>
    like === like.toUpperCase() && like.length > 1 ? text.toUpperCase()
      : like[0] === like[0].toUpperCase() ? text[0].toUpperCase() + text.slice(1) : text;
  function otherwise(text) {
    for (const [old, now] of TEXTS) {
      const found = text.match(new RegExp(`(^|[^a-z])(${old})(?![a-z])`, "i"));
      if (found) return text.replace(found[2], cased(found[2], now));
    }
    const edits = [`${text}…`, `${text} ›`];
    if (text !== text.toUpperCase()) edits.push(text.toUpperCase());
    return one(edits);
  }
  function relabel(el) {
    const where = shown(el);
    if (!where || twins(el)) return null;
    const old = tidy(where.node ? where.node.data : where.el.getAttribute(where.name));
    // A number or a letter is what it is about, not what it is called.
    if (old.length < 2 || !/[a-z\u00c0-\u024f]/i.test(old)) return null;
    const now = otherwise(old);
    if (where.node) words(where.node, where.node.data.replace(/\S[\s\S]*\S|\S/, () => now));
    else attribute(where.el, where.name, now);
    return `"${old}" is called "${now}"`.slice(0, 120);
  }

  function attributes(el) {
    const labelled = el.id && el.getRootNode().querySelector(`label[for="${CSS.escape(el.id)}"]`);
    const gone = [];
    for (const { name } of [...el.attributes])
      if (name.startsWith("data-") || (name === "id" && !labelled) || (name === "name" && typeOf(el) !== "radio") ||
          (name === "title" && calledOf(el) !== tidy(el.title)) || name === "autocomplete" || name === "itemprop")
        gone.push(name);
    for (const name of gone) attribute(el, name, null);
    return gone.length ? `without ${gone.join(", ")}` : null;
  }

  function late(el) {
    const mark = document.createComment("");
    el.before(mark);
    const parent = el.parentNode;
    el.remove();
    setTimeout(() => {
      if (mark.isConnected) mark.replaceWith(el);
      else if (parent.isConnected && !el.isConnected) parent.append(el);
    }, 500);
    return "there half a second later";
  }

  function overlay() {
    const cover = document.createElement("div");
    cover.className = fresh();
    cover.style.cssText = "position:fixed;inset:0;z-index:2147483000;background:rgba(0,0,0,.5);display:flex;align-items:flex-end";
    const box = document.createElement("div");
    box.setAttribute("role", "dialog");
    box.setAttribute("aria-label", "Cookies");
    box.style.cssText = "background:#fff;color:#000;padding:24px;width:100%;font:16px sans-serif";
    const text = document.createElement("p");
    text.textContent = "We use cookies to give you the best experience on our site.";
    box.append(text);
    const accepts = one(["Accept all", "Accept cookies", "I agree", "Got it", "Allow all"]);
    for (const name of [accepts, one(["Manage settings", "Preferences", "Learn more"])]) {
      const button = document.createElement("button");
      button.textContent = name;
      button.style.cssText = "margin-right:12px;padding:8px 16px";
      if (name === accepts) button.addEventListener("click", () => cover.remove());
      box.append(button);
    }
    cover.append(box);
    for (const node of [cover, ...cover.querySelectorAll("*")]) memory.ours.add(node);
    document.body.append(cover);
    return `a cookie banner covers the page ("${accepts}")`;
  }

  function variant(el) {
    const tag = tagOf(el);
    if (pressed(el) || tag === "button" || (tag === "a" && el.hasAttribute("href"))) {
      const stand = document.createElement(tag === "a" ? "button" : one(["a", "div"]));
      if (tag === "a") stand.type = "button";
      else stand.setAttribute("role", "button");
      if (tagOf(stand) === "a") stand.href = "#";
      else if (tagOf(stand) === "div") { stand.tabIndex = 0; stand.style.display = "inline-block"; }
      for (const name of ["class", "aria-label", "title"]) if (el.hasAttribute(name)) stand.setAttribute(name, el.getAttribute(name));
      if (pressed(el)) stand.textContent = calledOf(el);
      else for (const child of el.childNodes) stand.append(child.cloneNode(true));
      const size = el.getBoundingClientRect();
      el.replaceWith(stand);
      if (!visible(stand) || stand.getBoundingClientRect().width < 4) { stand.style.minWidth = `${size.width}px`; stand.style.minHeight = `${size.height}px`; }
      memory.back = el;
      memory.target = memory.stand = stand;
      memory.shapes.push(() => { if (stand.isConnected) stand.replaceWith(el); memory.target = el; });
      return `<${tag}> became <${tagOf(stand)}${tag === "a" ? "" : " role=button"}>`;
    }
    if (tag === "input" && ["text", ""].includes(typeOf(el))) { attribute(el, "type", "search"); return "a text field became a search field"; }
    if (tag === "input" && typeOf(el) === "checkbox") { attribute(el, "role", "switch"); return "a box to tick became a switch"; }
    if (!FIELDS.has(tag) && !el.hasAttribute("role") && !svg(el)) { attribute(el, "role", "button"); attribute(el, "tabindex", "0"); return `<${tag}> got the role of a button`; }
    return null;
  }

  function besides(el) {
    // Like it in all but its name; nothing happens there.
    const where = shown(el);
    if (!where || svg(el) || twins(el) || FIELDS.has(tagOf(el)) && labelOf(el)?.contains(el)) return null;
    const name = calledOf(el);
    const other = el.cloneNode(true);
    for (const node of [other, ...other.querySelectorAll("*")])
      for (const kind of ["id", "name", "for", "data-testid", "data-test", "data-test-id", "onclick"]) node.removeAttribute(kind);
    const called = FIELDS.has(tagOf(el)) && !pressed(el) ? one([`Confirm ${name}`, "Coupon code", "Comment"]) : one([...OTHERS, `${name} later`]);
    if (pressed(other)) other.setAttribute("value", called);
    else if (FIELDS.has(tagOf(other))) { other.setAttribute("placeholder", called); other.removeAttribute("aria-label"); }
    else { other.textContent = called; other.removeAttribute("aria-label"); other.removeAttribute("title"); }
    if (tagOf(other) === "a") other.setAttribute("href", "#");
    if (pressed(other)) other.type = "button";
    else if (tagOf(other) === "button") other.type = "button";
    el.parentNode.insertBefore(other, draw() < 0.7 ? el : el.nextSibling);
    return called;
  }
  function decoy(el) {
    const called = besides(el);
    if (called === null) return null;
    attributes(el);
    rename(el);
    return `another one, "${called}", stands beside it; names have changed`.slice(0, 120);
  }
  function gone(el) {
    const called = besides(el);
    if (called === null) return null;
    const unit = el.closest("label") || el;
    const label = labelOf(el);
    unit.remove();
    if (label && label !== unit) label.remove();
    memory.target = null;
    return `it is not there; "${called}" is in its place`.slice(0, 120);
  }
  function redesign(el) {
    const done = [rename(el), wrap(el), attributes(el), draw() < 0.5 ? relabel(el) : move(el)].filter(Boolean);
    return done.length > 1 ? done.join("; ") : null;
  }

  // The smallest changes that lead a selector to another element.

  // The smallest box around it that stands among others of its kind, or itself.
  function recordOf(el) {
    const holds = (at) => at.querySelector(tagOf(el)) || at.shadowRoot?.querySelector(tagOf(el));
    const like = (at) => [...at.parentNode.children].some((other) => other !== at && tagOf(other) === tagOf(at) && holds(other));
    for (let at = above(el), up = 0; at?.parentNode && at !== document.body && up < 6; at = above(at), up++)
      if (like(at)) return at;
    return el;
  }
  const above = (at) => at.parentElement || at.getRootNode().host || null;
  function lost(el) {
    if (FIELDS.has(tagOf(el)) && labelOf(el)) labelOf(el).remove();
    const record = recordOf(el);
    record.remove();
    memory.target = null;
    return record === el ? "it is gone" : `its <${tagOf(record)}> is gone`;
  }
  function removed(el) {
    el.remove();
    memory.target = null;
    return "it is gone";
  }
  // A copy is another thing: an attribute that only the original has in this page (an id, an address) is not the copy's.
  const OWN = /^(id|name|for|href|src|value|data-.*|aria-(label|labelledby|describedby|controls))$/;
  function copied(node) {
    const copy = node.cloneNode(true);
    shade(node, copy);
    for (const one of everyIn(copy))
      for (const { name, value } of [...one.attributes])
        if (name === "onclick" || name === "id" || (OWN.test(name) && document.querySelectorAll(`[${name}="${CSS.escape(value)}"]`).length < 2))
          one.removeAttribute(name);
    return copy;
  }
  // A shadow root is not copied with its host.
  function shade(node, copy) {
    const froms = [node, ...node.querySelectorAll("*")], tos = [copy, ...copy.querySelectorAll("*")];
    froms.forEach((from, at) => {
      if (!from.shadowRoot || tos[at].shadowRoot) return;
      const root = tos[at].attachShadow({ mode: "open" });
      root.adoptedStyleSheets = from.shadowRoot.adoptedStyleSheets;
      for (const child of from.shadowRoot.children) {
        const own = child.cloneNode(true);
        root.append(own);
        shade(child, own);
      }
    });
  }
  const everyIn = (node) => [node, ...node.querySelectorAll("*")].flatMap((one) =>
    one.shadowRoot ? [one, ...[...one.shadowRoot.children].flatMap(everyIn)] : [one]);

  // The text of a record that is easily taken for this one: `Invoice 180` for `Invoice 18`, `Lamp Pro` for `Lamp`.
  const another = (text) => text.replace(/\s*$/, (end) => (/\d\s*$/.test(text) ? "0" : " Pro") + end);
  function other(el) {
    const said = ahead(el);
    if (said === null) return null;
    lost(el);
    return said.replace("before", "instead of");
  }
  function instead(el) {
    const said = longer(el, "with phone"); // it says no grave word and no scope
    if (said === null) return null;
    removed(el);
    return said.replace("before it", "in its place");
  }
  function ahead(el) {
    const record = recordOf(el);
    if (record === el) return null;
    const copy = copied(record);
    for (const node of everyIn(copy).flatMap((one) => [...one.childNodes]))
      if (node.nodeType === 3 && tidy(node.data) && !node.parentElement.closest("button,a,select,script,style")) node.data = another(node.data);
    record.before(copy);
    return `another <${tagOf(record)}> stands before its own`;
  }
  function longer(el, more = one(["all", "later", "and close"])) {
    const where = shown(el);
    if (!where?.node || svg(el) || !el.contains(where.node)) return null;
    const copy = copied(el);
    for (const name of ["aria-label", "title"]) copy.removeAttribute(name);
    copy.textContent = `${calledOf(el)} ${more}`;
    el.before(copy);
    return `"${copy.textContent}" stands before it`.slice(0, 120);
  }
  function given(el) {
    if (!["id", "data-testid", "data-test", "data-test-id", "name"].some((kind) => el.hasAttribute(kind))) return null;
    const kept = Object.fromEntries([...el.attributes].filter(({ name }) => /^(id|name|data-test.*)$/.test(name)).map(({ name, value }) => [name, value]));
    const called = besides(el);
    if (called === null) return null;
    const other = [el.previousElementSibling, el.nextElementSibling].find((next) => next && tagOf(next) === tagOf(el) &&
      (calledOf(next) === called || next.placeholder === called || next.value === called));
    if (!other) return null;
    for (const [name, value] of Object.entries(kept)) {
      attribute(el, name, null);
      other.setAttribute(name, value);
    }
    return `"${called}" has its ${Object.keys(kept).join(" and ")}`.slice(0, 120);
  }

  const KINDS = { rename, wrap, move, relabel, attributes, late, overlay, variant, decoy, redesign, gone, lost, removed, ahead, other, longer, instead, given };
  const reach = (path) => path.reduce((node, step) => (step === "shadow" ? node.shadowRoot : node.children[step]), document.documentElement);

  const el = reach(request.path);
  if (!el) return { done: null };
  memory.target = el;
  memory.over = false;
  listen();
  return { done: request.kind === "none" ? "nothing" : KINDS[request.kind](el) };
})
