// The page as it is, in flat lists from which a player builds it again. It runs in a world of its own and writes nothing.
//
// What is typed into fields is never read into the lists, nor the content of what the user or the redactor calls secret.
// A node is [parent, tag, attributes, facts], a text [parent, "#text", text]; a parent stands before its children.
((eyes) => {
  const FIELD = new Set(["input", "textarea", "select"]);
  // They keep their place among their siblings, but not what is in them.
  const EMPTY = new Set("script style template noscript link meta base title source track param".split(" "));
  const BOXED = new Set("img canvas video audio iframe object embed frame input".split(" "));
  const KEPT = new Set(("id class name type href src alt title role placeholder for style width height colspan rowspan dir lang " +
    "hidden disabled readonly required checked multiple size open tabindex contenteditable draggable rows cols wrap start " +
    "reversed span headers scope label low high max min step optimum inert popover popovertarget slot part exportparts align valign " +
    "bgcolor border cellpadding cellspacing color face usemap shape coords action method target rel autocomplete inputmode pattern " +
    "viewBox d fill stroke points x y x1 y1 x2 y2 cx cy r rx ry dx dy transform opacity offset gradientUnits gradientTransform " +
    "clip-path clip-rule fill-rule fill-opacity stroke-width stroke-linecap stroke-linejoin stroke-dasharray stroke-opacity " +
    "stop-color stop-opacity text-anchor dominant-baseline font-size font-family font-weight preserveAspectRatio mask").split(" "));
  const VALUED = /^(submit|button|reset|checkbox|radio)$/;
  const NAMED = /^(id|class|name|type|role|data-test(-?id)?)$/;
  const ADDRESS = new Set(["href", "src", "action"]);
  const LONGEST = 500, STYLE = 4000, TEXT = 50000, DEEPEST = 400, LETTERS = 1500000, DATA = 4000, RULES = 60, PICTURE = 24000;
  const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
  const OWN = "#\\ #\\ #\\ ";

  // ------------------------------------------------------------------------------------------------------ styles

  const written = new WeakMap(); // of each style sheet: its number of rules, its key, its text
  const texts = new Map(); // the texts of this call
  const plain = (css) => css.replace(/url\("(?!#)((?:[^"\\]|\\.)*)"\)/g, (whole, url) =>
    url.startsWith("data:image/") && url.length < DATA ? whole : 'url("")');
  const hashed = (text) => {
    let one = 0xdeadbeef, two = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      one = Math.imul(one ^ code, 2654435761);
      two = Math.imul(two ^ code, 1597334677);
    }
    return `${(one >>> 0).toString(36)}${(two >>> 0).toString(36)}-${text.length}`;
  };
  const textOf = (sheet) => {
    const parts = [];
    for (const rule of sheet.cssRules) {
      if (rule.type === 5) continue; // a font: it would have to be fetched
      if (rule.type === 3) {
        if (!rule.styleSheet) continue;
        const inner = textOf(rule.styleSheet);
        parts.push(rule.media.mediaText ? `@media ${rule.media.mediaText} {\n${inner}\n}` : inner);
      } else parts.push(rule.cssText);
    }
    return parts.join("\n");
  };
  // The key of a sheet; `""` for one of another origin, which its address names.
  function keyOf(sheet, known) {
    let rules;
    try { rules = sheet.cssRules; } catch { return ["", sheet.href || ""]; }
    if (rules.length && rules[0].selectorText?.includes(OWN)) return null; // the one that hides secrets
    const before = written.get(sheet);
    const same = before && before[0] === rules.length && rules.length > RULES;
    const text = same ? before[2] : plain(textOf(sheet));
    const key = same ? before[1] : hashed(text);
    written.set(sheet, [rules.length, key, text]);
    if (text.length > LETTERS) return null;
    if (!known.has(key)) texts.set(key, text);
    return [key, sheet.media.mediaText];
  }
  const sheetsOf = (root, known) =>
    [...root.styleSheets, ...(root.adoptedStyleSheets || [])].filter((sheet) => !sheet.disabled).slice(0, 200)
      .map((sheet) => keyOf(sheet, known)).filter(Boolean);

  // How many closed shadow roots the page has made (`hiding.js` counts them).
  const closedCount = () => {
    for (const sheet of document.adoptedStyleSheets || []) {
      try {
        const last = sheet.cssRules[sheet.cssRules.length - 1]?.selectorText || "";
        if (last.startsWith("reenact-closed-")) return last;
      } catch {}
    }
    return "";
  };

  // -------------------------------------------------------------------------------------------------- attributes

  function attributesOf(el, tag, hidden) {
    const kept = {};
    const type = tag === "input" ? (el.getAttribute("type") || "text").toLowerCase() : tag === "button" ? "button" : "";
    for (const { name, value } of el.attributes) {
      if (hidden ? !NAMED.test(name) : !(KEPT.has(name) || value === "" || /^(aria|data)-/.test(name) || (name === "value" && valued(tag, type)))) continue;
      if (/^on|^aria-value|^data-.*value/i.test(name) || name.length > 60) continue;
      if (ADDRESS.has(name) && /^(javascript|data|blob|vbscript):/i.test(value.replace(/[\u0000-\u0020]+/g, ""))) continue;
      if (name === "style") kept.style = plain(value.slice(0, STYLE)).replace(/url\((?!["']?(data:image\/|#|"))[^)]*\)/g, 'url("")');
      else if (name === "d" || name === "points" ? value.length <= STYLE : true)
        kept[name] = name === "d" || name === "points" || name === "class" ? value.slice(0, STYLE) : value.slice(0, LONGEST);
    }
    return kept;
  }
  const valued = (tag, type) => tag === "option" || tag === "li" || tag === "progress" || tag === "meter" || tag === "button" || VALUED.test(type);

  // ------------------------------------------------------------------------------------------------------- facts

  const matches = (el, selector) => { try { return el.matches(selector); } catch { return false; } };

  // A picture, a drawing or a text that the browser does not paint (`hiding.js`): the user has named it by other means than CSS.
  const unpainted = (el) => {
    const style = getComputedStyle(el);
    if (FIELD.has(el.localName)) return style.webkitTextFillColor === "rgba(0, 0, 0, 0)";
    return style.filter === "opacity(0)" || style.objectPosition.startsWith("-32000px");
  };
  const side = (number) => Math.round(number * 10) / 10;
  const size = (el) => {
    const box = el.getBoundingClientRect();
    return [side(box.width), side(box.height)];
  };

  // Whether a picture may be kept: the browser may know its size in bytes.
  const small = (el) => {
    const url = el.currentSrc, area = el.naturalWidth * el.naturalHeight;
    if (!area || area > 120000) return false;
    if (url.startsWith("data:")) return url.length < PICTURE * 1.4;
    return /^https?:|^file:/.test(url) && performance.getEntriesByName(url).every((one) => one.encodedBodySize <= PICTURE);
  };

  function factsOf(el, tag, secret) {
    const facts = {};
    const type = tag === "input" ? (el.getAttribute("type") || "text").toLowerCase() : "";
    if (secret) facts.hidden = 1;
    if (type === "checkbox" || type === "radio") { if (el.checked && !secret) facts.on = 1; }
    else if (tag === "select") { if (!secret) facts.at = [...el.options].flatMap((one, at) => (one.selected ? [at] : [])).slice(0, 200); }
    else if (type === "file") { if (el.files.length) facts.filled = 1; }
    else if ((tag === "input" && !/^(submit|button|reset|image|hidden)$/.test(type)) || tag === "textarea") { if (el.value) facts.filled = 1; }
    if (BOXED.has(tag) && (tag !== "input" || type === "image")) facts.box = size(el);
    if (tag === "img" && !secret) {
      if (el.naturalWidth) facts.natural = [el.naturalWidth, el.naturalHeight];
      if (el.complete && small(el)) facts.image = el.currentSrc;
    }
    if (tag === "iframe" || tag === "frame") {
      for (let at = 0; at < window.length; at++) if (window[at] === el.contentWindow) facts.frame = at;
    }
    if (tag === "dialog" && matches(el, ":modal")) facts.modal = 1;
    if (el.hasAttribute("popover") && matches(el, ":popover-open")) facts.popover = 1;
    const [left, top] = [Math.round(el.scrollLeft), Math.round(el.scrollTop)];
    if (left || top) facts.scroll = [left, top];
    return facts;
  }

  // ------------------------------------------------------------------------------------------------------- nodes

  const checked = new WeakSet(); // custom elements of which it is known that their shadow root is not a closed one
  let closed = null;

  function moment({ selectors = [], known = [], outside = false, opened = false, most = 12000 }) {
    const began = performance.now();
    texts.clear();
    const keys = new Set(known);
    const nodes = [], said = new Set();
    let letters = 0, whole = true, doubt = closed === null || closedCount() !== closed;
    const todo = [[document, -1, 0]];
    const children = (node, at, depth) => {
      const list = node.childNodes;
      for (let place = list.length - 1; place >= 0; place--) todo.push([list[place], at, depth]);
    };
    const text = (node, parent) => {
      const data = node.data.slice(0, TEXT);
      whole &&= data.length === node.data.length;
      letters += data.length;
      nodes.push([parent, "#text", data]);
    };
    const element = (el, parent, depth) => {
      const tag = el.localName.toLowerCase(), at = nodes.length;
      if (EMPTY.has(tag) && el.namespaceURI !== SVG) return void nodes.push([parent, tag]);
      const field = FIELD.has(tag);
      const named = selectors.some((one) => matches(el, one)) || (outside && unpainted(el));
      const typed = el.isContentEditable === true;
      const secret = named || ((field || typed) && eyes.secret(el));
      const attributes = attributesOf(el, tag, named && !field), facts = factsOf(el, tag, secret);
      if (el.namespaceURI === SVG) facts.svg = 1;
      else if (el.namespaceURI !== HTML) facts.other = 1;
      if (typed && el.textContent) facts.filled = 1;
      for (const value of Object.values(attributes)) letters += value.length;
      nodes.push(Object.keys(facts).length ? [parent, tag, attributes, facts] : Object.keys(attributes).length ? [parent, tag, attributes] : [parent, tag]);
      const told = secret ? (field ? el.value : el.textContent || "").trim() : "";
      if (told.length > 3) said.add(told.slice(0, 2000));
      if (tag.includes("-") && !el.shadowRoot) {
        if (opened) checked.add(el);
        else if (!checked.has(el)) doubt = true;
      }
      if (named || typed || tag === "textarea" || EMPTY.has(tag) && tag !== "title") return;
      children(el, at, depth + 1);
      if (el.shadowRoot) todo.push([el.shadowRoot, at, depth + 1]);
    };
    while (todo.length) {
      const [node, parent, depth] = todo.pop();
      if (nodes.length >= most || letters > LETTERS || depth > DEEPEST) {
        whole = false;
        continue;
      }
      if (node.nodeType === 3) text(node, parent);
      else if (node.nodeType === 1) element(node, parent, depth);
      else if (node.nodeType === 9 || node.nodeType === 11) {
        const facts = {}, sheets = sheetsOf(node, keys);
        if (sheets.length) facts.sheets = sheets;
        if (node.nodeType === 9 && document.compatMode !== "CSS1Compat") facts.quirks = 1;
        const at = nodes.push([parent, node.nodeType === 9 ? "#document" : "#shadow", {}, facts]) - 1;
        children(node, at, depth + 1);
      }
    }
    if (opened) closed = closedCount();
    return { nodes, texts: [...texts], said: [...said], whole, doubt: doubt && !opened && whole, took: performance.now() - began, url: location.href, title: document.title,
      viewport: [innerWidth, innerHeight], scroll: [Math.round(scrollX), Math.round(scrollY)] };
  }
  return { moment };
})
