// What Reenact reads of a page. Python runs one function of this file at a time, whole-page ones in a world of their
// own where the page's scripts do not see them. Nothing here writes: no attribute, no style, no global, no listener.
(() => {
  const FIELD = new Set(["input", "textarea", "select"]);
  const HEADINGS = "h1,h2,h3,h4,h5,h6,legend,caption,[role=heading]";
  const ACTIVE =
    "a[href],button,input:not([type=hidden]),select,textarea,summary,option,area[href],audio[controls]," +
    "video[controls],[role],[onclick],[tabindex],[contenteditable],[data-testid],[data-test-id],[data-test]";
  const ROLES = {
    a: "link", area: "link", button: "button", select: "combobox", textarea: "textbox", option: "option",
    h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", img: "img",
    li: "listitem", ul: "list", ol: "list", table: "table", tr: "row", td: "cell", th: "columnheader",
    nav: "navigation", main: "main", form: "form", dialog: "dialog", summary: "button", progress: "progressbar",
    fieldset: "group", p: "paragraph", iframe: "iframe", article: "article", aside: "complementary",
  };
  const TYPES = {
    button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
    number: "spinbutton", range: "slider", search: "searchbox", file: "button", color: "button",
  };
  const KEPT = [
    "id", "name", "type", "placeholder", "aria-label", "title", "alt", "data-testid", "data-test-id", "data-test",
    "autocomplete", "for", "value",
  ];
  const SECRET_TYPE = /^(cc-[\w-]+|one-time-code|current-password|new-password)$/;
  // The redactor's names (redact/names.py puts them here), and the words after one that say it is something about it.
  const SECRET_NAMES = new Set(/* names */ []);
  const SECRET_ENDS = [...SECRET_NAMES].filter((name) => name.length >= 5);
  const ABOUT = new Set("name id type count limit hint url label length title description".split(" "));
  const NAMED_BY = ["name", "id", "data-testid", "data-test-id", "data-test", "aria-label", "placeholder", "title", "autocomplete"];

  const tidy = (text) => (text || "").replace(/\s+/g, " ").trim();
  const cut = (text, most = 120) => {
    text = tidy(text);
    return text.length > most ? text.slice(0, most - 1) + "…" : text;
  };
  const tagOf = (el) => el.localName;
  const outer = (el) => el.parentElement || (el.getRootNode().host ?? null);
  const typeOf = (el) =>
    tagOf(el) === "input" ? (el.getAttribute("type") || "text").toLowerCase() : tagOf(el) === "button" ? el.type : "";
  const editable = (el) => el.isContentEditable === true;

  function* elements(root) {
    for (const el of root.querySelectorAll("*")) {
      yield el;
      if (el.shadowRoot) yield* elements(el.shadowRoot);
    }
  }

  function roleOf(el) {
    const said = tidy(el.getAttribute("role")).split(" ")[0];
    if (said) return said;
    const tag = tagOf(el);
    if (tag === "input") return TYPES[typeOf(el)] || "textbox";
    if (tag === "select" && (el.multiple || el.size > 1)) return "listbox";
    if (tag === "a" && !el.hasAttribute("href")) return "generic";
    if (editable(el) && !(el.parentElement && editable(el.parentElement))) return "textbox";
    return ROLES[tag] || "generic";
  }

  // ------------------------------------------------------------------------------------------------ secrets

  const matches = (el, selector) => {
    try {
      return el.matches(selector);
    } catch {
      return false;
    }
  };

  const near = (el, selector) => {
    try {
      return Boolean(el.closest(selector));
    } catch {
      return false;
    }
  };
  const holds = (el, selector) => {
    try {
      return Boolean(el.querySelector(selector));
    } catch {
      return false;
    }
  };

  // The words of a name, so that `apiToken`, `api_token` and "API token" are one.
  const words = (name) =>
    ((name || "").slice(0, 500).match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g) || []).map((word) => word.toLowerCase());

  function saysSecret(name) {
    const all = words(name);
    for (let at = 0; at < all.length; at++) {
      let joined = "";
      for (let end = at; end < Math.min(all.length, at + 4); end++) {
        joined += all[end];
        const known = SECRET_NAMES.has(joined) ||
          (end === at && SECRET_ENDS.some((long) => joined.endsWith(long) || (long.length >= 8 && joined.startsWith(long))));
        if (known && !ABOUT.has(all[end + 1])) return true;
      }
    }
    return false;
  }

  // The labels of a document by the fields they are for: gathered once for all that is asked in one go.
  let gathered = null;
  function labelsFor(el) {
    if (gathered === null) {
      gathered = new Map();
      queueMicrotask(() => (gathered = null));
    }
    const root = el.getRootNode();
    if (!gathered.has(root)) {
      const known = new Map();
      for (const label of root.querySelectorAll("label[for]"))
        known.set(label.htmlFor, `${known.get(label.htmlFor) || ""} ${label.textContent}`);
      gathered.set(root, known);
    }
    const said = tidy(el.getAttribute("aria-labelledby")).split(" ").filter(Boolean)
      .map((id) => root.getElementById?.(id)?.textContent || "");
    const around = el.closest("label");
    // What stands in a list of choices around it, or in the field itself, is no name of it.
    return [gathered.get(root).get(el.id) || "", ...said, around && !editable(el) ? around.textContent : ""];
  }

  function secret(el, selectors = []) {
    if (selectors.some((selector) => matches(el, selector))) return true;
    const tag = tagOf(el);
    const typed = editable(el) && !(el.parentElement && editable(el.parentElement));
    if (tag !== "input" && tag !== "textarea" && !typed) return false;
    const type = typeOf(el);
    if (type === "password") return true;
    if (["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"].includes(type)) return false;
    const filled = tidy(el.getAttribute("autocomplete")).toLowerCase().split(" ");
    if (filled.some((word) => SECRET_TYPE.test(word))) return true;
    return NAMED_BY.some((name) => saysSecret(el.getAttribute(name))) || labelsFor(el).some(saysSecret);
  }

  // What an element shows, without what people typed and without what is secret.
  function textOf(el, selectors = [], most = 120) {
    if (FIELD.has(tagOf(el)) || (editable(el) && roleOf(el) === "textbox")) return "";
    if (selectors.some((selector) => near(el, selector))) return "";
    const aside = ["script,style,textarea,select", ...selectors];
    let whole = "";
    const visit = (child) => {
      if (whole.length > most * 8) return;
      if (child.nodeType === 3) whole += child.data;
      else if (child.nodeType === 1 && !aside.some((selector) => matches(child, selector))) {
        const apart = INLINE.has(tagOf(child)) ? "" : " ";
        whole += apart;
        walk(child.shadowRoot || child);
        whole += apart;
      }
    };
    const walk = (node) => {
      for (const child of shownIn(node)) visit(child);
    };
    walk(el.shadowRoot || el);
    return cut(whole, most);
  }
  // The nodes that a node shows: those of a slot are assigned from outside.
  const shownIn = (node) => {
    const given = node.localName === "slot" && node.assignedNodes ? node.assignedNodes() : [];
    return given.length ? given : node.childNodes;
  };
  const INLINE = new Set("a abbr b bdi cite code em font i kbd mark q s small span strong sub sup time u var".split(" "));

  const byIds = (el, ids, selectors) =>
    tidy(ids).split(" ").filter(Boolean)
      .map((id) => el.getRootNode().getElementById?.(id))
      .filter(Boolean)
      .map((other) => textOf(other, selectors)).join(" ");

  function labelOf(el, selectors) {
    const said = byIds(el, el.getAttribute("aria-labelledby"), selectors);
    if (said) return said;
    // Not by el.labels, which walks the whole page for each field.
    const id = el.getAttribute("id");
    const labels = id ? [...el.getRootNode().querySelectorAll(`label[for=${quote(id)}]`)] : [];
    const around = el.closest("label");
    if (around && around.control === el && !labels.includes(around)) labels.push(around);
    return cut(labels.map((label) => textOf(label, selectors)).join(" "));
  }

  function nameOf(el, selectors = []) {
    const label = labelOf(el, selectors) || tidy(el.getAttribute("aria-label"));
    if (label) return cut(label);
    const tag = tagOf(el);
    if (tag === "input" && ["submit", "button", "reset"].includes(typeOf(el)))
      return cut(el.value || el.title || { submit: "Submit", reset: "Reset" }[typeOf(el)] || "");
    if (tag === "img" || tag === "area" || typeOf(el) === "image") return cut(el.alt || el.title);
    if (tag === "fieldset") return textOf(el.querySelector("legend") || el.cloneNode(false), selectors);
    if (FIELD.has(tag)) return cut(el.title || el.placeholder || "");
    const pictured = [...el.querySelectorAll("img[alt],svg title,[aria-label]")].slice(0, 3);
    // Of a component that shows nothing that can be read, as with a closed shadow root, its own attributes tell.
    const said = tag.includes("-") ? ["label", "text", "caption", "heading"].map((one) => tidy(el.getAttribute(one))).find(Boolean) : "";
    return textOf(el, selectors) || cut(el.title || said) ||
      cut(pictured.map((one) => one.alt || one.getAttribute("aria-label") || one.textContent).join(" "));
  }

  // -------------------------------------------------------------------------------------------------- places

  const box = (el) => {
    const at = tagOf(el) === "area" ? areaBox(el) : el.getBoundingClientRect();
    return [at.x, at.y, at.width, at.height].map((one) => Math.round(one * 10) / 10);
  };

  // The picture that shows an area of an image map.
  const pictureOf = (area) => {
    const name = area.closest("map")?.name;
    return name ? [...document.images].find((one) => one.useMap === "#" + name) ?? null : null;
  };
  function areaBox(el) {
    const picture = pictureOf(el)?.getBoundingClientRect();
    if (!picture) return { x: 0, y: 0, width: 0, height: 0 };
    const at = el.coords.split(",").map(Number);
    if (el.shape === "default" || !at.length || at.some(Number.isNaN)) return picture;
    if (el.shape === "circle") return { x: picture.x + at[0] - at[2], y: picture.y + at[1] - at[2], width: 2 * at[2], height: 2 * at[2] };
    const across = at.filter((_, place) => place % 2 === 0), down = at.filter((_, place) => place % 2 === 1);
    const x = Math.min(...across), y = Math.min(...down);
    return { x: picture.x + x, y: picture.y + y, width: Math.max(...across) - x, height: Math.max(...down) - y };
  }

  const ofType = (el) => {
    const tag = tagOf(el);
    let place = 1;
    for (let other = el.previousElementSibling; other; other = other.previousElementSibling)
      if (tagOf(other) === tag) place += 1;
    return place;
  };

  // A DOM path with indices: "html[1]/body[1]/my-card[2]/#shadow/button[1]".
  function pathOf(el) {
    const steps = [];
    for (let at = el; at; at = outer(at)) {
      steps.unshift(`${tagOf(at)}[${ofType(at)}]`);
      if (!at.parentElement && at.getRootNode().host) steps.unshift("#shadow");
    }
    return steps.join("/");
  }

  const sole = (root, selector) => {
    try {
      return root.querySelectorAll(selector).length === 1;
    } catch {
      return false;
    }
  };
  const lasting = (id) => id && id.length < 60 && !/\d{4,}|[0-9a-f]{8,}|^\d|^:|radix|react-aria|ember\d/i.test(id);

  // The steps from the nearest element with an id of its own, a root or a shadow root, down to the element.
  function climb(el, root, ids) {
    const steps = [];
    for (let at = el; at; at = at.parentElement) {
      const id = at.getAttribute("id");
      if (ids && lasting(id) && sole(root, "#" + CSS.escape(id))) {
        steps.unshift("#" + CSS.escape(id));
        return [steps.join(" > "), true];
      }
      const nth = at.parentElement || root !== document ? `:nth-of-type(${ofType(at)})` : "";
      steps.unshift(CSS.escape(tagOf(at)) + nth);
    }
    return [steps.join(" > "), false];
  }

  // A CSS selector by position. Shadow roots are entered with `>>`, as Playwright reads it.
  function cssPath(el, ids = true) {
    const parts = [];
    for (let at = el; at; at = at.getRootNode().host ?? null) {
      const root = at.getRootNode();
      const [steps, anchored] = climb(at, root, ids);
      parts.unshift(root.host && !anchored ? ":scope > " + steps : steps);
    }
    return parts.join(" >> ");
  }

  // A selector by place that is quick on large pages too: XPath, where no shadow root is in the way.
  function placeOf(el) {
    const steps = [];
    for (let at = el; at; at = at.parentElement) {
      if (at.getRootNode() !== document) return "css=" + cssPath(el, false);
      steps.unshift(at.parentElement ? `*[${childOf(at)}]` : "*");
    }
    return "xpath=/" + steps.join("/");
  }
  const childOf = (el) => {
    let place = 1;
    for (let other = el.previousElementSibling; other; other = other.previousElementSibling) place += 1;
    return place;
  };

  const quote = (text) => '"' + text.replace(/(["\\])/g, "\\$1") + '"';

  // A short CSS selector by what the element is, or by its place where nothing tells it apart.
  function cssOf(el) {
    const root = el.getRootNode();
    const tag = CSS.escape(tagOf(el));
    const id = el.getAttribute("id");
    if (lasting(id) && sole(root, "#" + CSS.escape(id))) return prefix(el) + "#" + CSS.escape(id);
    for (const name of ["name", "aria-label", "placeholder", "title", "alt", "href", "for", "type"]) {
      const value = el.getAttribute(name);
      if (!value || value.length > 80 || value.includes("\n") || (name === "href" && /[?&;]/.test(value))) continue;
      const selector = `${tag}[${name}=${quote(value)}]`;
      if (sole(root, selector)) return prefix(el) + selector;
    }
    const classes = [...el.classList].filter((one) => lasting(one) && !/hover|focus|active|selected/.test(one));
    for (const one of classes.slice(0, 4))
      if (sole(root, `${tag}.${CSS.escape(one)}`)) return `${prefix(el)}${tag}.${CSS.escape(one)}`;
    return cssPath(el);
  }
  const prefix = (el) => (el.getRootNode().host ? cssPath(el.getRootNode().host) + " >> " : "");

  function xpathOf(el) {
    const steps = [];
    for (let at = el; at; at = at.parentElement) {
      if (at.getRootNode() !== document) return null;
      const name = at.namespaceURI === "http://www.w3.org/1999/xhtml" ? tagOf(at) : `*[name()='${at.nodeName}']`;
      const id = at.getAttribute("id");
      if (lasting(id) && !id.includes("'") && sole(document, "#" + CSS.escape(id)))
        return ["", "", `*[@id='${id}']`, ...steps].join("/");
      steps.unshift(at.parentElement ? `${name}[${ofType(at)}]` : name);
    }
    return "/" + steps.join("/");
  }

  // ------------------------------------------------------------------------------------------- fingerprints

  const pathname = (text) => {
    try {
      return decodeURI(new URL(text, document.baseURI).pathname).slice(0, 120);
    } catch {
      return "";
    }
  };

  function attributesOf(el) {
    const kept = {};
    for (const name of KEPT) {
      const value = el.getAttribute(name);
      const typed = name === "value" && !(tagOf(el) === "option" || /^(radio|checkbox|submit|button|reset)$/.test(typeOf(el)));
      if (value !== null && value !== "" && !typed) kept[name] = cut(value);
    }
    for (const name of ["href", "src", "action"])
      // An address that leads nowhere (`#`, `javascript:`) identifies nothing.
      if (el.hasAttribute(name) && !/^(\s*$|#|(data|javascript|blob):)/i.test(el.getAttribute(name)))
        kept[name] = pathname(el.getAttribute(name));
    return kept;
  }

  // What stands beside an element and beside the boxes around it. A box that holds nothing else is no neighbourhood.
  function nearText(el, selectors) {
    const found = [];
    for (let at = el, up = 0; at && up < 3 && found.length < 3; at = at.parentElement) {
      if ((at.parentElement?.childElementCount ?? 2) > 1 || beside(at)) up += 1;
      for (const [step, most] of [["previousSibling", 4], ["nextSibling", 2]]) {
        let other = at[step];
        for (let tries = 0; other && tries < most; other = other[step], tries += 1) {
          const text = saidBy(other, selectors);
          if (text) {
            found.push(text);
            break;
          }
        }
      }
    }
    return found.slice(0, 4);
  }
  const beside = (el) => [...(el.parentElement?.childNodes ?? [])].some((one) => one.nodeType === 3 && tidy(one.data));
  const saidBy = (node, selectors) =>
    node.nodeType === 3 ? cut(node.data, 60)
      : node.nodeType === 1 && !/^(script|style)$/i.test(node.nodeName) ? textOf(node, selectors, 60) : "";

  // What people read as a field's label where none is tied to it: the text before it, or behind a box to tick.
  function captionOf(el, selectors) {
    const type = typeOf(el), ticked = type === "checkbox" || type === "radio";
    const field = FIELD.has(tagOf(el)) ? ticked || !/^(submit|button|reset|image|hidden)$/.test(type) : editable(el);
    if (!field) return "";
    const column = columnOf(el, selectors);
    if (column?.twin) return column.name;
    const fields = "input:not([type=hidden]),select,textarea";
    for (let at = el, up = 0; at && up < 4 && !/^(form|body|fieldset|dialog)$/.test(tagOf(at)); at = at.parentElement) {
      if ((at.parentElement?.childElementCount ?? 2) > 1 || beside(at)) up += 1;
      const step = ticked ? "nextSibling" : "previousSibling";
      for (let other = at[step]; other; other = other[step]) {
        if (other.nodeType === 1 && (matches(other, fields) || holds(other, fields))) return "";
        const text = saidBy(other, selectors);
        if (text) return text;
      }
    }
    return "";
  }

  // The last heading that stands before the element. The list is made once for many elements.
  function headingOf(el, headings, selectors) {
    const heading = headingBefore(el, headings);
    return heading ? textOf(heading, selectors, 80) : "";
  }
  function headingBefore(el, headings) {
    let low = 0, high = headings.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const before = headings[middle].compareDocumentPosition(el) & (4 | 16);
      if (before) low = middle + 1;
      else high = middle;
    }
    return low ? headings[low - 1] : null;
  }

  // What stands in a heading's place on a page without any.
  const TITLES = "[aria-current=page],[itemprop=name],[class~=title],[class$=-title],[class*='-title ']";
  // The headings that an element stands under: the last one before it, and those of higher ranks before that. A heading in
  // a record that the element is no part of says nothing of it.
  function outlineOf(el, headings, selectors) {
    const found = [];
    if (!headingBefore(el, headings)) headings = [...document.querySelectorAll(TITLES)];
    const last = headingBefore(el, headings);
    let rank = 9;
    for (let at = last ? headings.indexOf(last) : -1; at >= 0 && found.length < 4 && rank > 1; at -= 1) {
      const heading = headings[at], its = rankOf(heading);
      if (its >= rank || heading.contains(el) || !scopes(heading, el)) continue;
      const text = textOf(heading, selectors, 80);
      if (text) [rank, found[found.length]] = [its, text];
    }
    return found;
  }
  const rankOf = (heading) => Number(heading.getAttribute("aria-level") || /^h([1-6])$/.exec(tagOf(heading))?.[1] || 7);
  function scopes(heading, el) {
    let block = heading;
    while (block.parentElement && !block.parentElement.contains(el)) block = block.parentElement;
    if (block === heading) return true;
    const row = ROW_TAGS.test(tagOf(block)) || kindred(block).some((one) => holds(one, HEADINGS));
    return !row && (rankOf(heading) === 1 || !holds(block, CONTROLS));
  }

  // The heading of the part of the page that an element is in; not the page's own, nor that of another part.
  function sectionOf(el, headings, selectors) {
    const heading = headingBefore(el, headings);
    if (!heading || rankOf(heading) === 1 || heading.contains(el) || !scopes(heading, el)) return "";
    const part = el.closest(PARTS);
    if (part && !part.contains(heading)) return "";
    const text = textOf(heading, selectors, 80);
    let block = heading;
    while (!block.parentElement.contains(el)) block = block.parentElement;
    return block === heading || textOf(block, selectors, 80) === text ? text : "";
  }
  const PARTS = "footer,nav,header,aside,[role=contentinfo],[role=navigation],[role=banner]";

  function fingerprint(el, selectors = [], headings = null) {
    const hidden = selectors.some((selector) => matches(el, selector));
    let host = el;
    while (host.getRootNode().host) host = host.getRootNode().host;
    headings ||= [...document.querySelectorAll(HEADINGS)];
    const record = recordOf(el, selectors);
    return {
      tag: tagOf(el),
      role: roleOf(el),
      name: hidden ? "" : nameOf(el, selectors),
      long: hidden ? "" : wholeOf(el, selectors),
      text: textOf(el, selectors),
      label: labelOf(el, selectors),
      caption: captionOf(el, selectors),
      attributes: attributesOf(el),
      classes: [...el.classList].slice(0, 12),
      heading: headingOf(host, headings, selectors),
      outline: outlineOf(host, headings, selectors),
      section: sectionOf(host, headings, selectors),
      near: nearText(el, selectors),
      box: box(el),
      path: pathOf(el),
      siblings: outer(el) ? (el.parentElement || el.getRootNode()).children.length : 1,
      record,
      column: columnOf(el, selectors),
      region: regionOf(el, selectors),
      ...(hidden ? { icon: "" } : pictureFor(el, selectors, record)),
      only: onlyField(el),
      leads: leads(el),
      submits: submits(el),
      secret: secret(el, selectors),
      visible: !hiddenBy(el),
    };
  }

  // Whether a field to write into is the only one that is shown in its form, or on a page where it is in none.
  function onlyField(el) {
    if (!isText(el)) return false;
    const all = [...(el.form || el.getRootNode()).querySelectorAll("input,textarea")];
    return all.length <= TWINS && all.every((one) => one === el || !isText(one) || hiddenBy(one));
  }
  const isText = (el) => tagOf(el) === "textarea" || (tagOf(el) === "input" && /^(|text|search|email|tel|url|number|password)$/.test(typeOf(el)));

  // A hash of the whole address of a link, of which the query is not kept; without the host within the site.
  function leads(el) {
    if (tagOf(el) !== "a" || !/^https?:/.test(el.href)) return "";
    const { origin, pathname, search, hash } = new URL(el.href);
    return hashed((origin === location.origin ? "" : origin) + pathname + search + hash);
  }

  // A hash of a name that is too long to be kept: it may differ from another one behind the cut.
  function wholeOf(el, selectors) {
    const name = nameOf(el, selectors);
    return name.endsWith("…") && name.startsWith(textOf(el, selectors).slice(0, -1)) ? hashed(textOf(el, selectors, 4000)) : "";
  }

  // ------------------------------------------------------------------------------- what an element belongs to

  // The parent as it is shown: a slotted element is in its slot's shadow root.
  const shownAbove = (el) => el.assignedSlot || outer(el);
  const ROW_TAGS = /^(li|tr|article|dd)$/;
  const ROW_ROLES = /^(row|listitem|article|treeitem|option|menuitem|comment)$/;
  const CONTROLS = "button,input,select,textarea,[role=button],[role=checkbox],[role=switch],[role=menuitem],script,style,template";
  const HEADING_TAGS = /^(h[1-6]|strong|b|th|dt|legend|summary)$/;

  // A label is the element's name, and so no key of a record around it.
  const names = (label, el) => (tagOf(label) === "label" && label.control === el) ||
    (label.id && tidy(el.getAttribute("aria-labelledby")).split(" ").includes(label.id));

  // A record within another one of its kind, as an answer within a comment.
  const nested = (inner, row) => inner !== row && shapeOf(row) !== "" && shapeOf(inner) === shapeOf(row) && kin(inner, row);

  // The texts that a record shows, each with whether it stands out; the element itself and other controls are left out.
  function chunksOf(row, el, selectors, inner = null, most = 24) {
    const found = [];
    const walk = (node, outstanding) => {
      for (const child of shownIn(node)) {
        if (found.length >= most) return;
        if (child.nodeType === 3) {
          const text = brief(child.data);
          if (text) found.push([text, outstanding]);
        } else if (child.nodeType === 1) {
          if (child === el || inner?.has(child) || matches(child, CONTROLS) || editable(child) || selectors.some((one) => matches(child, one))) continue;
          if (el && names(child, el)) continue;
          if (nested(child, row)) continue;
          if (tagOf(child).includes("-") && matches(child, "[class*=button],[class*=btn],[type=submit]")) continue;
          const marked = outstanding || HEADING_TAGS.test(tagOf(child)) || /^(heading|rowheader)$/.test(roleOf(child)) ||
            child.getAttribute("scope") === "row";
          walk(child.shadowRoot || child, marked);
        }
      }
    };
    const term = tagOf(row) === "dd" ? termOf(row) : null;
    if (term) walk(term, true);
    for (const cell of spanning(row)) walk(cell, true);
    walk(row.shadowRoot || row, false);
    return found;
  }
  // The cells of rows before one that reach down into it.
  function spanning(row) {
    const found = [];
    for (let at = row.previousElementSibling, up = 1; tagOf(row) === "tr" && at && up < 50; at = at.previousElementSibling, up += 1)
      found.push(...[...(at.cells ?? [])].filter((cell) => cell.rowSpan > up || cell.rowSpan === 0));
    return found;
  }
  // The term that a description (`dd`) is of.
  function termOf(row) {
    let at = row.previousElementSibling;
    while (at && tagOf(at) !== "dt") at = at.previousElementSibling;
    return at;
  }

  // A text that is too long is cut, and told from others that begin alike by a hash of the whole.
  const brief = (text) => {
    text = tidy(text);
    return text.length > 80 ? cut(text, 80) + hashed(text) : text;
  };

  const CLOCK = /\d ?(s|secs?|seconds?|min|mins|minutes?|h|hours?|days?)\b|\d{1,2}:\d{2}|\bago\b|just now/i;
  const AMOUNT = /\d[.,]\d{2}\b|[$€£¥]|%|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{4}-\d{2}-\d{2}\b|^\d+ \p{L}/u;
  // How well a text names its record: `Invoice 18` and `ada@example.org` best, times worst.
  function worth(text, outstanding) {
    if (CLOCK.test(text)) return 5;
    if (AMOUNT.test(text)) return 4;
    if (/@|^#\d+$|\p{L}[^\d]*[- #/:.]?\d+$|^\d{3,}$/u.test(text)) return 0;
    if (!/\p{L}/u.test(text)) return 3;
    return outstanding ? 1 : 2;
  }

  const kin = (one, other) => tagOf(one) === tagOf(other) && roleOf(one) === roleOf(other);
  const shapeOf = (el) => [...el.classList].filter((one) => !/active|selected|hover|focus|even|odd|first|last|current|open/i.test(one))[0] ?? "";

  // Forms and groups of fields beside one another are of a kind, whatever their classes, and are known by their headings.
  const GROUPS = /^(form|fieldset)$/;

  // The records beside one: its siblings of the same kind.
  function kindred(at) {
    const around = at.parentElement || at.getRootNode();
    const named = ROW_TAGS.test(tagOf(at)) || GROUPS.test(tagOf(at));
    const found = [];
    for (const other of around?.children ?? []) {
      if (other !== at && kin(at, other) && (named || shapeOf(at) === shapeOf(other))) found.push(other);
      if (found.length >= 200) break;
    }
    return found;
  }

  // What a record holds besides shown texts: pictures' alternative texts, values that the page itself gave to fields, its
  // own id, where its links lead.
  function hintsOf(row, el, selectors) {
    const found = [];
    const add = (kind, value) => value && found.length < 12 && found.push(`${kind} ${cut(value, 80)}`);
    const hidden = (one) => one === el || selectors.some((selector) => matches(one, selector));
    add("label", tidy(row.getAttribute("aria-label")) || byIds(row, row.getAttribute("aria-labelledby"), selectors));
    for (const one of row.querySelectorAll("img[alt]")) if (!hidden(one)) add("picture", tidy(one.alt));
    for (const one of row.querySelectorAll("input[value]"))
      if (!hidden(one) && /^(text|search|number|email|url)$/.test(typeOf(one)) && !secret(one, selectors))
        add("value", tidy(one.getAttribute("value")));
    for (const name of ["data-id", "data-key", "data-row-id", "id"]) add(name, tidy(row.getAttribute(name)));
    for (const one of row.querySelectorAll("input[type=hidden][name]"))
      if (!saysSecret(one.name) && !/csrf|token|nonce|utf8|method/i.test(one.name) && one.value.length <= 20) add(one.name, one.value);
    for (const one of row.querySelectorAll("a[href]")) if (!hidden(one)) add("link", attributesOf(one).href);
    return found;
  }

  // The record that an element belongs to: the nearest ancestor that repeats or is a row by nature, with its key text,
  // which no other record beside it has. Null without one.
  function recordOf(el, selectors = [], inner = null) {
    for (let at = el, up = 0; at && up < 12; at = shownAbove(at), up += 1) {
      const tag = tagOf(at);
      if (/^(body|html|main|dialog)$/.test(tag)) break;
      if (/^(nav|table|ul|ol|select)$/.test(tag)) continue;
      if (at === el && (matches(at, CONTROLS) || tag === "a" || tag === "option" || tag === "td" || tag === "th")) continue;
      const within = shapeOf(at) !== "" && at.parentElement?.closest(`${tag}.${CSS.escape(shapeOf(at))}`);
      const row = ROW_TAGS.test(tag) || ROW_ROLES.test(roleOf(at)) || Boolean(within && nested(at, within));
      const group = GROUPS.test(tag);
      const [caption, others] = partedBy(at, kindred(at), el, selectors);
      if (!row && !others.length) continue;
      const chip = tag === "span" && at !== el && !FIELD.has(tagOf(el)) && shapeOf(at) !== "";
      if (!row && !chip && (INLINE.has(tag) || tag === "label" || tag === "a" || tag === "button" || tag === "slot")) continue;
      if (selectors.some((one) => near(at, one))) return null;
      const own = chunksOf(at, el, selectors, inner).filter(([, outstanding]) => outstanding || !group);
      // A box that has texts but none like its neighbours is no record, but a part of the page.
      if (!row && !group && !others.some((one) => alikeInside(at, one))) continue;
      const theirs = others.map((one) => chunksOf(one, null, selectors).map(([text]) => text));
      const ranked = rankedOf(own, theirs);
      // What a description says of its term may change.
      const term = tag === "dd" && termOf(at) && ranked.includes(brief(textOf(termOf(at), selectors)));
      const texts = own.map(([text]) => text).slice(0, term ? 1 : undefined);
      const shared = texts.filter((text) => !ranked.includes(text));
      // Each text is another one's, too, and all of them together are not: `Ann` and `fine`.
      const joint = !ranked.length && texts.length > 1 && !theirs.some((one) => texts.every((text) => one.includes(text)));
      const [hint] = ranked.length || joint ? [] : caption && !own.length ? [caption] : hintsAlone(at, others, el, selectors);
      if (!own.length && !hint) continue;
      if (hint) texts.push(hint);
      if (/^\d{1,2}$/.test(nameOf(el, selectors)) && !/\p{L}/u.test(ranked[0] ?? "")) break; // a day, known by its month
      const key = hint ?? (term ? texts[0] : ranked[0]) ?? (joint ? cut(texts.join(", "), 80) : "");
      return { tag, role: roleOf(at), key, texts, shared, joint, ...(inner ? {} : setOf(at, el, key, caption, selectors)) };
    }
    return inner ? null : partOf(el, selectors);
  }

  // Rows that only say what follows them (`Team A`) part a table or list: the text of the one before a row, and the rows
  // of its part.
  function partedBy(row, others, el, selectors) {
    if (!ROW_TAGS.test(tagOf(row)) || !others.length) return ["", others];
    // Of a row with nothing but controls, the row with nothing but a text is the other half.
    const bare = [...row.children].every((cell) => holds(cell, CONTROLS + ",a[href]") || !tidy(cell.textContent));
    const says = (one) => one !== row && tagOf(one) === tagOf(row) && !holds(one, CONTROLS + ",a[href]") &&
      (bare || one.childElementCount < row.childElementCount || (shapeOf(one) !== shapeOf(row) && one.childElementCount === 1)) && tidy(one.textContent);
    if (!holds(row, CONTROLS + ",a[href]") || !others.some(says)) return ["", others];
    let caption = null, end = null;
    for (let one = row.previousElementSibling; one && !caption; one = one.previousElementSibling) if (says(one)) caption = one;
    for (let one = row.nextElementSibling; one && !end; one = one.nextElementSibling) if (says(one)) end = one;
    const after = (one, other) => Boolean(one.compareDocumentPosition(other) & 4);
    const kept = others.filter((one) => !says(one) && (!caption || after(caption, one)) && (!end || after(one, end)));
    return [caption ? textOf(caption, selectors, 80) : "", kept];
  }

  // What a record stands in: the row that captions it, the record around it, or the heading over it; and whether another
  // record of its kind elsewhere has the same key.
  function setOf(row, el, key, caption, selectors) {
    const siblings = new Set([row, ...kindred(row)]);
    const inside = (one) => [...siblings].some((other) => other.contains(one));
    const over = () => {
      const before = [...document.querySelectorAll(HEADINGS)].filter((one) => one.compareDocumentPosition(row) & 4 && !inside(one));
      return before.length ? textOf(before[before.length - 1], selectors, 80) : "";
    };
    const around = () => (row.parentElement ? recordOf(row.parentElement, selectors, siblings)?.key : "");
    const within = caption || around() || over();
    return { within, twin: Boolean(key && within) && twinRecord(row, el, key) };
  }

  // Whether another record of the same kind, with such an element, shows the key.
  function twinRecord(row, el, key) {
    const texts = document.createTreeWalker(row.getRootNode(), 4);
    const start = key.slice(0, 16).split(" ")[0];
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      if (!node.data.includes(start) || brief(node.data) !== key || row.contains(node)) continue;
      for (let at = node.parentElement; at && !at.contains(row); at = at.parentElement)
        if (kin(at, row) && shapeOf(at) === shapeOf(row) && holds(at, CSS.escape(tagOf(el)))) return true;
    }
    return false;
  }

  // The texts that none of the others has, the best names first.
  function rankedOf(own, theirs) {
    const sets = theirs.map((one) => new Set(one));
    const ranked = own.filter(([text]) => !sets.some((one) => one.has(text)))
      .map(([text, outstanding], order) => [worth(text, outstanding), order, text]);
    return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , text]) => text);
  }

  function hintsAlone(row, others, el, selectors) {
    // An element that has a name of its own among them needs no hint: an id or a link may change.
    const name = nameOf(el, selectors);
    const within = (one) => [one, ...elements(one), ...(one.shadowRoot ? elements(one.shadowRoot) : [])];
    const namesakes = others.flatMap(within).filter((inner) => tagOf(inner) === tagOf(el) && nameOf(inner, selectors) === name);
    if (name && !namesakes.length) return [];
    const theirs = new Set(others.flatMap((one) => hintsOf(one, null, selectors)));
    const own = namesakes.length ? attributeAlone(el, namesakes) : "";
    return [...hintsOf(row, el, selectors).filter((one) => !theirs.has(one)), ...(own ? [own] : [])];
  }

  const TWINS = 60;
  // Other elements of the same sort and name. Not of a tag that the page has in great numbers.
  function twinsOf(el, selectors, within) {
    const tag = tagOf(el), role = roleOf(el), name = nameOf(el, selectors), kind = typeOf(el);
    const same = (one) => one !== el && tagOf(one) === tag && typeOf(one) === kind && roleOf(one) === role &&
      nameOf(one, selectors) === name && !hiddenBy(one);
    const all = [...within];
    return all.length > TWINS ? [] : all.filter(same);
  }

  // A record without a box of its own: what stands between an element and its twin before it, the heading over it, or for
  // a name without letters (a day of a calendar) the text around it. Null where nothing else has its name.
  function partOf(el, selectors) {
    if (!el.parentElement || selectors.some((one) => near(el, one))) return null;
    const name = nameOf(el, selectors);
    const period = name && !/\p{L}/u.test(name) ? periodOf(el, selectors) : null;
    if (period) return period;
    const beside = twinsOf(el, selectors, [...el.parentElement.children].filter((one) => tagOf(one) === tagOf(el)));
    if (beside.length) {
      const parts = segmentsOf(el, beside, selectors);
      const key = parts ? rankedOf(parts[0], parts.slice(1).map((part) => part.map(([text]) => text)))[0] : "";
      if (key) return { tag: "part", role: "", key, texts: parts[0].map(([text]) => text) };
    }
    const twins = twinsOf(el, selectors, el.getRootNode().querySelectorAll(tagOf(el)));
    if (!twins.length) return null;
    const key = headingAlone(el, twins, selectors) || attributeAlone(el, twins);
    return key ? { tag: "part", role: "", key, texts: [key] } : null;
  }

  // The heading over an element that none of its twins stands under.
  function headingAlone(el, twins, selectors) {
    const headings = [...document.querySelectorAll(HEADINGS)];
    const heading = headingBefore(el, headings);
    // The heading of another part of the page, as of an article before the footer, says nothing of it.
    const part = el.closest(PARTS) ?? el;
    if (!heading?.parentElement.contains(part)) return "";
    const key = textOf(heading, selectors, 80);
    return twins.some((one) => headingOf(one, headings, selectors) === key) ? "" : key;
  }

  // The attribute by which the page itself tells an element from its twins, where no text does.
  function attributeAlone(el, twins) {
    if (FIELD.has(tagOf(el)) || secret(el)) return "";
    for (const name of ["title", "value", "data-id", "data-key", "data-row-id", "href", "formaction", "onclick"]) {
      const value = tidy(el.getAttribute(name));
      if (value && value.length <= 80 && twins.every((one) => tidy(one.getAttribute(name)) !== value)) return `${name} ${value}`;
    }
    return "";
  }

  // The texts of an element's part of its parent, then those of its twins' parts: as many siblings before each as stand
  // between two of them. Null where the parts are not of one length.
  function segmentsOf(el, twins, selectors) {
    const all = [...el.parentElement.children];
    const places = [el, ...twins].map((one) => all.indexOf(one)).sort((a, b) => a - b);
    const apart = places[1] - places[0];
    if (apart < 2 || places.some((place, order) => order && place - places[order - 1] !== apart)) return null;
    const ahead = places[0] >= apart - 1;
    return [el, ...twins].map((one) => {
      const place = all.indexOf(one);
      const around = ahead ? all.slice(place - apart + 1, place) : all.slice(place + 1, place + apart);
      return around.flatMap((other) => matches(other, CONTROLS) ? [] : HEADING_TAGS.test(tagOf(other))
        ? [[textOf(other, selectors, 80), true]] : chunksOf(other, el, selectors)).filter(([text]) => text);
    });
  }

  function periodOf(el, selectors) {
    for (let at = outer(el), up = 0; at && up < 8 && !/^(body|html)$/.test(tagOf(at)); at = outer(at), up += 1) {
      if (selectors.some((one) => near(at, one))) return null;
      const said = chunksOf(at, el, selectors).map(([text]) => text).find((one) => /\p{L}/u.test(one) && /\d/.test(one));
      if (said) return { tag: "part", role: "", key: said, texts: [said] };
    }
    const [over] = outlineOf(el, [...document.querySelectorAll(HEADINGS)], selectors);
    return over && /\d/.test(over) ? { tag: "part", role: "", key: over, texts: [over] } : null;
  }

  // The heading of the column that an element stands in, and whether its row has another of its name: else the row tells
  // enough.
  function columnOf(el, selectors = []) {
    const cell = el.closest?.("td,th,[role=gridcell],[role=cell]");
    const row = cell?.parentElement, table = cell?.closest("table,[role=grid],[role=table]");
    if (!row || !table || selectors.some((one) => near(cell, one))) return null;
    const head = [...table.querySelectorAll("tr,[role=row]")].find((one) => [...one.children].filter(heads).length > 1);
    if (!head || head === row) return null;
    const place = startOf(row, cell);
    const over = [...head.children].find((one) => startOf(head, one) <= place && place < startOf(head, one) + (one.colSpan || 1));
    const name = over && heads(over) ? textOf(over, selectors, 60) : "";
    if (!name) return null;
    const twin = twinsOf(el, selectors, row.querySelectorAll(tagOf(el))).some((one) => !cell.contains(one));
    return { name, twin };
  }
  const heads = (one) => tagOf(one) === "th" || roleOf(one) === "columnheader";
  function startOf(row, cell) {
    let place = 0;
    for (const one of row.children) {
      if (one === cell) break;
      place += one.colSpan || 1;
    }
    return place;
  }

  // Whether two boxes are built alike: the same tags at the top, or the same class with a control in each.
  function alikeInside(one, other) {
    const tags = (el) => [...(el.shadowRoot || el).children].map(tagOf).join();
    if (tags(one) === tags(other)) return true;
    const acts = "a[href],button,input,select,textarea,[role=button],[onclick]";
    return shapeOf(one) !== "" && shapeOf(one) === shapeOf(other) && holds(one, acts) && holds(other, acts);
  }

  const LANDMARKS = /^(dialog|alertdialog|navigation|main|form|region|complementary|contentinfo|banner|search|table|grid|list|group|radiogroup|tabpanel|menu|toolbar|listbox|tree)$/;
  // The named region around an element: `{role, name}`; a dialog before anything else, with its `texts`. Null without one.
  function regionOf(el, selectors = []) {
    let first = null;
    for (let at = shownAbove(el); at; at = shownAbove(at)) {
      const tag = tagOf(at);
      const role = tag === "section" ? "region" : roleOf(at);
      const dialog = /dialog$/.test(role) || at.getAttribute("aria-modal") === "true";
      if (!dialog && isLayer(at, selectors)) return dialogOf(at, el, "", selectors);
      if (!LANDMARKS.test(role) && !dialog) continue;
      const label = labelOf(at, selectors) || tidy(at.getAttribute("aria-label")) ||
        (tag === "table" && at.caption ? textOf(at.caption, selectors) : "") ||
        (tag === "fieldset" ? textOf(at.querySelector("legend") || at.cloneNode(false), selectors) : "");
      if (dialog) return dialogOf(at, el, label, selectors);
      if (label && !first) first = { role, name: cut(label, 80) };
    }
    return first;
  }

  function dialogOf(at, el, label, selectors) {
    const head = at.querySelector("h1,h2,h3,h4,h5,h6,[role=heading]");
    const texts = chunksOf(at, el, selectors).map(([text]) => text);
    const name = label || (head ? textOf(head, selectors) : "") || (at.getAttribute("role") ? textOf(at, selectors) : texts[0]);
    return { role: "dialog", name: cut(name, 80), texts };
  }

  // Whether a box without a role is a dialog: it lies over the page, and asks a question or keeps from the rest.
  function isLayer(at, selectors) {
    if (/^(html|body|nav|header|footer)$/.test(tagOf(at)) || !/^(fixed|absolute)$/.test(getComputedStyle(at).position)) return false;
    const texts = chunksOf(at, null, selectors, null, 8).map(([text]) => text);
    return texts.length > 0 && holds(at, CONTROLS) && (texts.some((text) => /[?\uff1f]/.test(text)) || isModal(at));
  }
  // Whether a layer keeps the user from the page behind it: it, or another one, lies over the whole window.
  function isModal(at) {
    const over = hit(1, 1);
    for (let one = over; one; one = outer(one)) {
      if (getComputedStyle(one).position !== "fixed") continue;
      const { width, height } = one.getBoundingClientRect();
      if (width >= innerWidth * 0.95 && height >= innerHeight * 0.95) return one !== at || at.childElementCount === 1;
    }
    return false;
  }

  const hashed = (text) => {
    let sum = 5381;
    for (let at = 0; at < Math.min(text.length, 4000); at++) sum = ((sum * 33) ^ text.charCodeAt(at)) >>> 0;
    return sum.toString(36);
  };
  const ICON_CLASS = /(^|[-_])(icon|icons|fa|fas|far|bi|mdi|glyphicon|octicon|lucide|ti|ri|feather|codicon|material)[-_]./i;
  // The picture of an element: the address of its image, a hash of its drawing, the names of its icon. Else "".
  function iconOf(el) {
    const parts = [];
    const look = (at, own) => {
      const tag = tagOf(at);
      if (tag === "img" && at.getAttribute("src"))
        parts.push("img " + (/^data:/i.test(at.getAttribute("src")) ? hashed(at.getAttribute("src")) : pathname(at.getAttribute("src")).split("/").pop()));
      else if (tag === "use") parts.push("use " + (at.getAttribute("href") || at.getAttribute("xlink:href") || ""));
      else if (tag === "path" && at.getAttribute("d")) parts.push("path " + hashed(tidy(at.getAttribute("d"))));
      else if (/^(circle|rect|line|polyline|polygon|ellipse)$/.test(tag))
        parts.push(tag + " " + hashed([...at.attributes].filter((one) => !/^(class|style|fill|stroke)/.test(one.name)).map((one) => one.name + one.value).join()));
      else if (tag.includes("-")) for (const name of ["name", "icon", "src", "svg-icon"]) {
        const value = !own && at.getAttribute(name);
        if (value) parts.push(`${name} ${value}`);
      }
      for (const one of at.classList) if (ICON_CLASS.test(one)) parts.push("class " + one);
      const style = getComputedStyle(at);
      const painted = (one) => {
        if (one.backgroundImage !== "none") parts.push("background " + hashed(one.backgroundImage + one.backgroundPosition));
        if (one.content.startsWith("url(")) parts.push("content " + hashed(one.content));
        if (one.maskImage !== "none") parts.push("mask " + hashed(one.maskImage + one.maskPosition));
      };
      painted(style);
      for (const side of ["::before", "::after"]) {
        const drawn = getComputedStyle(at, side);
        if (["none", "normal"].includes(drawn.content)) continue;
        if (drawn.content !== '""' && drawn.content !== "counter" && !drawn.content.startsWith("url(")) parts.push("drawn " + (drawn.content.length < 12 ? drawn.content : hashed(drawn.content)));
        painted(drawn);
      }
    };
    look(el, true);
    let left = 12;
    const walk = (node) => {
      for (const child of shownIn(node)) {
        if (child.nodeType === 3 && /^[\p{Co}\p{S}\s]+$/u.test(child.data) && tidy(child.data)) parts.push("sign " + tidy(child.data));
        if (child.nodeType !== 1 || left-- <= 0) continue;
        look(child, false);
        walk(child.shadowRoot || child);
      }
    };
    walk(el.shadowRoot || el);
    if (!parts.length && tagOf(el).includes("-") && !nameOf(el)) parts.push(...traitsOf(el));
    return cut([...new Set(parts)].slice(0, 6).join("; "), 200);
  }
  // The attributes of a component, without those of its state and looks.
  const STATES = /^(id|class|style|slot|part|is|role|tabindex|dir|lang|hidden|open|disabled|checked|selected|active|loading|hydrated|value|size|variant|type|aria-.*|data-.*|on.*)$/;
  const traitsOf = (el) => [...el.attributes].filter((one) => !STATES.test(one.name) && one.value && one.value.length <= 60)
    .map((one) => `${one.name} ${tidy(one.value)}`);

  // The picture, and for an element without a name whether nothing else of its tag has it.
  function pictureFor(el, selectors, record) {
    let icon = iconOf(el);
    if (nameOf(el, selectors)) return { icon };
    // Of boxes without anything in them, outside of records, only the colour tells one from the next.
    if (!icon && !record && !el.childNodes.length && !FIELD.has(tagOf(el))) icon = colourOf(el);
    if (!icon) return { icon };
    const others = [...el.getRootNode().querySelectorAll(tagOf(el))];
    return { icon, sole: others.length <= TWINS && others.every((one) => one === el || (iconOf(one) || colourOf(one)) !== icon) };
  }
  function colourOf(el) {
    const { backgroundColor } = getComputedStyle(el);
    return /^(transparent|rgba\(.*, 0\))$/.test(backgroundColor) ? "" : `colour ${backgroundColor}`;
  }

  // Whether pressing the element sends a form.
  const submits = (el) => Boolean(el.form) && /^(submit|image)$/.test(typeOf(el)) && el.form.getAttribute("method") !== "dialog";

  // ------------------------------------------------------------------------------------------ what is the matter

  const named = (el) => {
    const id = el.getAttribute("id");
    const one = [...el.classList][0];
    return tagOf(el) + (id ? "#" + id : one ? "." + one : "");
  };

  // An element in a person's words: `button "Save"`, or `div#banner "We use cookies"` where no role says what it is.
  function describe(el, selectors = []) {
    const role = roleOf(el);
    const name = cut(nameOf(el, selectors), 50);
    const what = role === "generic" || role === "presentation" ? named(el) : role;
    return name ? `${what} "${name}"` : what === named(el) ? what : `${what} ${named(el)}`;
  }

  function hiddenBy(el) {
    if (tagOf(el) === "area") {
      const picture = pictureOf(el);
      return picture ? hiddenBy(picture) : { how: "no box", by: null };
    }
    const style = getComputedStyle(el);
    const folded = el.closest("details:not([open])");
    if (folded && folded !== el && el.closest("summary")?.parentElement !== folded)
      return { how: "closed", by: describe(folded) };
    if (style.display === "none" || !el.getClientRects().length) {
      for (let at = el; at; at = outer(at)) {
        if (getComputedStyle(at).display === "none") return { how: "display: none", by: at === el ? null : describe(at) };
      }
      if (style.display === "contents") return null;
      return { how: "no box", by: null };
    }
    if (style.visibility !== "visible") {
      let by = el;
      while (outer(by) && getComputedStyle(outer(by)).visibility !== "visible") by = outer(by);
      return { how: "visibility: " + style.visibility, by: by === el ? null : describe(by) };
    }
    const [, , width, height] = box(el);
    return width > 0 && height > 0 ? null : { how: "no size", by: null };
  }

  function hit(x, y) {
    let found = document.elementFromPoint(x, y);
    while (found?.shadowRoot) {
      const inner = found.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    return found;
  }
  const within = (inner, el) => {
    for (let at = inner; at; at = at.assignedSlot || outer(at)) if (at === el) return true;
    return false;
  };

  // What lies above a point of the element: named by the outermost layer that does not hold the element itself.
  function coverAt(el, x, y) {
    const found = hit(x, y);
    if (!found || within(found, el)) return null;
    const label = found.closest?.("label");
    if (label && label.control === el) return null;
    let layer = found;
    for (let at = found; at && !within(el, at); at = outer(at))
      if (getComputedStyle(at).position !== "static" || at === found) layer = at;
    const exit = [...layer.querySelectorAll("button,[role=button],a,input[type=button],input[type=submit]")]
      .filter((one) => !hiddenBy(one))
      .find((one) => /accept|agree|allow|got it|ok|close|dismiss|continue|×|✕|no thanks|later/i.test(nameOf(one)));
    return { by: describe(layer), hit: describe(found), exit: exit ? describe(exit) : null };
  }

  const MARGIN = 0.5;
  function cover(el) {
    const [x, y, width, height] = box(el);
    const left = Math.max(x, 0), right = Math.min(x + width, innerWidth);
    const top = Math.max(y, 0), bottom = Math.min(y + height, innerHeight);
    if (right - left <= MARGIN || bottom - top <= MARGIN) return null;
    return coverAt(el, (left + right) / 2, (top + bottom) / 2);
  }

  const disabled = (el) => {
    if (matches(el, ":disabled")) return el.disabled && el.hasAttribute("disabled") ? "itself" : describe(el.closest("fieldset:disabled") || el);
    for (let at = el; at; at = outer(at))
      if (at.getAttribute("aria-disabled") === "true") return at === el ? "itself" : describe(at);
    return null;
  };

  function scrollable(el) {
    const [x, y, width, height] = box(el);
    for (let at = el; at; at = outer(at)) if (getComputedStyle(at).position === "fixed") return false;
    return x + width + scrollX > 0 && y + height + scrollY > 0;
  }

  async function probe(el, selectors = []) {
    const [x, y, width, height] = box(el);
    const first = [x, y, width, height].join();
    let moving = false;
    if (!document.hidden) {
      await Promise.race([
        new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))),
        new Promise((go) => setTimeout(go, 100)),
      ]);
      moving = box(el).join() !== first;
    }
    const tag = tagOf(el);
    return {
      described: describe(el, selectors),
      tag, type: typeOf(el), role: roleOf(el),
      attached: el.isConnected,
      hidden: hiddenBy(el),
      box: [x, y, width, height],
      viewport: [innerWidth, innerHeight],
      in_viewport: x < innerWidth && y < innerHeight && x + width > 0 && y + height > 0,
      scrollable: scrollable(el),
      covered: cover(el),
      unclickable: getComputedStyle(el).pointerEvents === "none",
      disabled: disabled(el),
      readonly: el.readOnly === true || el.getAttribute("aria-readonly") === "true",
      editable: (FIELD.has(tag) && tag !== "select" && !TYPES[typeOf(el)]) || /^(number|search|range|color)$/.test(typeOf(el)) || editable(el),
      checkable: /^(checkbox|radio)$/.test(typeOf(el)) || /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio|option|treeitem)$/.test(roleOf(el)),
      checked: el.checked ?? (el.getAttribute("aria-checked") === "true"),
      options: tag === "select" ? [...el.options].slice(0, 200).map((one) => [cut(one.label, 60), cut(one.value, 60), one.disabled]) : null,
      options_count: tag === "select" ? el.options.length : null,
      moving,
      secret: secret(el, selectors),
      label: labelOf(el, selectors),
    };
  }

  // ------------------------------------------------------------------------------------- of the page as a whole

  const state = () => ({
    ready: document.readyState,
    url: location.href,
    title: document.title,
    count: document.getElementsByTagName("*").length,
    age: Math.round(performance.now() / 100) / 10,
    empty: !document.body || (!document.body.children.length && !tidy(document.body.textContent)),
    pending: performance.getEntriesByType("resource").filter((one) => !one.responseEnd).length,
  });

  // The words or the mark by which a page says that it is loading, where a user sees them; else empty.
  const LOADING = /^((?:still )?loading|please wait|just a moment|fetching|wird geladen|lädt|laden|bitte warten|chargement|veuillez patienter|cargando|espere|caricamento|attendere|carregando|aguarde|ładowanie|proszę czekać|загрузка|подождите|yükleniyor|laddar|indlæser|laster|ladataan|načítání|加载中|正在加载|載入中|読み込み中|로딩 중|불러오는 중)(?:[^.…]{0,40}(?:…|\.{2,3}))?$/i;
  const MARKS = '[aria-busy="true"], [role="progressbar"]:not([aria-valuenow]), progress:not([value])';
  function busy() {
    const marked = [...document.querySelectorAll(MARKS)].find((el) => !hiddenBy(el));
    if (marked) return marked.ariaBusy === "true" ? "that it is busy" : "that it makes progress";
    const texts = document.createTreeWalker(document.body ?? document, 4);
    for (let left = 20000; left && texts.nextNode(); left -= 1) {
      const { data, parentElement } = texts.currentNode;
      const said = data.length < 200 && LOADING.exec(tidy(data));
      if (said && parentElement && !hiddenBy(parentElement)) return `"${said[1]}"`;
    }
    return "";
  }

  // How alike an element is at first sight, by what costs no layout: only the best get a fingerprint.
  function glance(el, wanted, captions) {
    let points = 0;
    if (wanted.tag && tagOf(el) === wanted.tag) points += 2;
    if (wanted.role && roleOf(el) === wanted.role) points += 2;
    if (!wanted.words.length) return points;
    let said = el.className?.baseVal ?? el.className;
    for (const name of KEPT) if (el.hasAttribute(name)) said += " " + el.getAttribute(name);
    if (el.childElementCount < 8) said += " " + (el.textContent || "").slice(0, 160);
    if (captions.has(el)) said += " " + captions.get(el);
    const had = new Set(said.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().split(/[\s_\-.,;:!?"'()\[\]/|]+/));
    for (const word of wanted.words) {
      if (had.has(word)) points += 3;
      else if (word.length > 3) for (const one of had) if (one.startsWith(word.slice(0, 4))) { points += 1; break; }
    }
    for (const [name, value] of Object.entries(wanted.attributes)) if (el.getAttribute(name) === value) points += 4;
    return points;
  }

  function* roots(root) {
    yield root;
    for (const el of root.querySelectorAll("*")) if (el.shadowRoot) yield* roots(el.shadowRoot);
  }

  function candidates({ wanted, selectors = [], most = 60 }) {
    const all = [];
    const captions = new Map();
    for (const label of document.querySelectorAll("label"))
      if (label.control) captions.set(label.control, tidy(label.textContent).slice(0, 80));
    const among = ACTIVE + (/^[a-z][\w-]*$/.test(wanted.tag) ? "," + wanted.tag : "") +
      (wanted.role === "heading" ? "," + HEADINGS : "");
    for (const root of roots(document))
      for (const el of root.querySelectorAll(among))
        if (tagOf(el) !== "html" && tagOf(el) !== "body") all.push([glance(el, wanted, captions), all.length, el]);
    all.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const headings = [...document.querySelectorAll(HEADINGS)];
    return {
      count: all.length,
      found: all.slice(0, most).map(([, , el]) => [placeOf(el), fingerprint(el, selectors, headings)]),
    };
  }

  // Where a frame's content begins, in the page that holds it.
  const inset = (el) => {
    const at = el.getBoundingClientRect();
    const style = getComputedStyle(el);
    const px = (name) => parseFloat(style[name]) || 0;
    return [at.x + px("borderLeftWidth") + px("paddingLeft"), at.y + px("borderTopWidth") + px("paddingTop")];
  };

  // ------------------------------------------------------------------------------------------------- looking

  const detail = (el, selectors) => {
    const tag = tagOf(el);
    const facts = { tag, attributes: attributesOf(el), secret: secret(el, selectors), box: box(el) };
    if (tag === "select") facts.options = [...el.options].slice(0, 100).map((one) => cut(one.label, 60));
    if (tag === "iframe" || tag === "frame") facts.inset = inset(el);
    if (typeOf(el)) facts.type = typeOf(el);
    facts.invites = inviting(el);
    facts.called = called(el);
    facts.role = roleOf(el);
    facts.heard = [...(heard.get(el) ?? [])];
    facts.shown = facts.invites && heard.has(el) ? textOf(el, selectors, 80) : "";
    if (typeOf(el) === "file" || (tag === "label" && typeOf(el.control ?? el) === "file")) facts.file = true;
    if (tag === "input" && !el.readOnly) facts.typed = true;
    if (tag === "summary" || el.hasAttribute("aria-expanded")) facts.expands = true;
    if (el.getAttribute("draggable") === "true") facts.draggable = true;
    facts.only_drop = !pressed(el) && !matches(el, ACTIVE);
    if (editable(el) && !facts.secret) facts.value = cut(el.innerText, 200);
    if (facts.secret || FIELD.has(tag)) facts.filled = Boolean(el.value);
    if (!facts.secret && (tag === "input" || tag === "textarea") && !/^(checkbox|radio|file)$/.test(typeOf(el)))
      facts.value = cut(el.value, 200);
    if (tag === "select") facts.value = cut([...el.selectedOptions].map((one) => one.label).join(", "), 200);
    return facts;
  };

  const SHAPES = /^(rect|circle|ellipse|polygon|polyline|path|text|g|image|use|line|tspan)$/;
  const pointer = (el) => getComputedStyle(el).cursor === "pointer";

  // Whether a person would take the element for one to act on, though no role says so.
  function inviting(el) {
    const tag = tagOf(el);
    if (tag === "html" || tag === "body" || tag === "option" || tag === "iframe") return false;
    if (getComputedStyle(el).pointerEvents === "none") return false;
    if (tag === "label" && el.control && !hiddenBy(el.control)) return false;
    if (tag === "summary" || (tag === "area" && el.hasAttribute("href"))) return true;
    if (tag === "canvas" || el.hasAttribute("onclick") || el.hasAttribute("onmousedown")) return true;
    if (el.tabIndex >= 0 && el.hasAttribute("tabindex")) return true;
    if (editable(el) && !(el.parentElement && editable(el.parentElement))) return true;
    if (el.draggable && tag !== "img" && tag !== "a") return true;
    if (SHAPES.test(tag)) return tag !== "g" && tag !== "tspan" && (pointer(el) || !el.closest("a,button"));
    const above = outer(el);
    if (listens(el)) return true;
    if (pointer(el)) return !above || !pointer(above);
    return token(el);
  }

  // The listeners of elements, which only the browser's debugger knows: the events of each, for one look at the page.
  let heard = new Map();
  let around = new Set(); // the elements around those with listeners for a press
  const PRESSES = ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "dblclick"];
  const pressed = (el) => PRESSES.some((kind) => heard.get(el)?.has(kind));
  const CONTROL = "a[href],button,input,select,textarea,summary,label,[role=button],[role=link],[role=tab],[role=menuitem],[role=option]";

  function hear(listening) {
    heard = new Map();
    for (const [path, kinds] of listening) {
      let at = document;
      for (const step of path.split("/")) at = step === "s" ? at?.shadowRoot : at?.children[step];
      if (at) heard.set(at, new Set(kinds));
    }
    for (const el of [...heard.keys()]) if (delegates(el)) for (const row of rowsOf(el)) if (!heard.has(row)) heard.set(row, new Set(["click"]));
    around = new Set();
    for (const el of heard.keys())
      if (pressed(el)) for (let at = outer(el); at && !around.has(at); at = outer(at)) around.add(at);
  }

  // The rows of a list or table that one listener around them serves.
  function rowsOf(el) {
    const around = el.children.length === 1 && !ROW_TAGS.test(tagOf(el.children[0])) ? el.children[0] : el;
    const within = tagOf(around) === "table" ? [...around.querySelectorAll(":scope > tbody > tr")] : [...around.children];
    return within.filter((one) => ROW_TAGS.test(tagOf(one)) || ROW_ROLES.test(roleOf(one)) || kindred(one).length >= 2);
  }
  const delegates = (el) => tagOf(el) !== "html" && tagOf(el) !== "body" && !tagOf(el).includes("-") && heard.get(el).has("click") && rowsOf(el).length > 1;

  // The elements within one, those of its shadow roots too, that are to be acted on by themselves.
  function holdsControl(el) {
    for (const root of [el, el.shadowRoot]) {
      if (!root) continue;
      for (const one of root.querySelectorAll("*")) if ((matches(one, CONTROL) || one.shadowRoot && holdsControl(one)) && !hiddenBy(one)) return true;
    }
    return false;
  }

  // Whether the listeners of an element make it one to act on: not if they serve what it holds, or what holds it.
  function listens(el) {
    if (heard.get(el)?.has("drop")) return true;
    if (!pressed(el) || outer(el)?.closest(CONTROL)) return false;
    if (tagOf(el).includes("-") || el.shadowRoot) return !holdsControl(el);
    const row = ROW_TAGS.test(tagOf(el)) || ROW_ROLES.test(roleOf(el));
    return row || (!delegates(el) && !holdsControl(el) && !around.has(el));
  }

  // A small empty box that is drawn all the same: an icon, a coloured field.
  function token(el) {
    if (el.childNodes.length || SHAPES.test(tagOf(el)) || FIELD.has(tagOf(el)) || above(el, "a,button,[role=button]")) return false;
    const [, , width, height] = box(el);
    if (Math.min(width, height) < 8 || Math.max(width, height) > 160) return false;
    const style = getComputedStyle(el);
    return style.backgroundImage !== "none" || !/^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor) || pictured(el);
  }
  const above = (el, selector) => Boolean(el.closest(selector));
  const pictured = (el) => !["none", "normal", '""'].includes(getComputedStyle(el, "::before").content);

  // What to call an element that shows no text: what the page's author calls it.
  const called = (el) =>
    cut([...Object.values(el.dataset).slice(0, 2), el.id, ...[...el.classList].slice(0, 2)].filter(Boolean)[0] || "", 40);

  // For each reference of Playwright's snapshot what the page says of its element; and what invites to act besides.
  function facts({ refs, selectors = [], listening = [], most = 300 }) {
    hear(listening);
    const wanted = new Set(refs);
    const found = {};
    const more = [];
    const said = [];
    let left = 0;
    for (const el of elements(document)) {
      if (selectors.some((selector) => matches(el, selector))) said.push(tidy(el.value || el.textContent));
      const ref = el._ariaRef?.ref;
      if (ref && wanted.has(ref)) {
        found[ref] = detail(el, selectors);
        continue;
      }
      if (!inviting(el) || hiddenBy(el)) continue;
      if ((tagOf(el).includes("-") || el.shadowRoot) && holdsControl(el)) continue; // a component, for the control in it
      const text = tidy(el.textContent); // a wrapper that the snapshot left out for what it wraps
      const same = [...el.querySelectorAll("*")].slice(0, 5);
      if (text && same.some((one) => wanted.has(one._ariaRef?.ref) && tidy(one.textContent) === text)) continue;
      if (more.length >= most) left += 1;
      else more.push([placeOf(el), { ...detail(el, selectors), role: roleOf(el), name: nameOf(el, selectors) || called(el) }]);
    }
    return { found, more, left, said };
  }

  // A page too large for a snapshot: what stands in and near the viewport, in order, and how much does not.
  const SHOWN = /^(heading|listitem|row|navigation|main|form|dialog|table|list|group|article|complementary|paragraph|img|alert|status|tab|option)$/;
  function outline({ selectors = [], most = 400 }) {
    const lines = [];
    let beyond = 0, depth = 0;
    const visit = (el, level) => {
      if (tagOf(el) === "script" || tagOf(el) === "style" || tagOf(el) === "head") return;
      const at = el.getBoundingClientRect();
      const apart = at.width > 0 && at.height > 0 && (at.bottom < -innerHeight || at.top > 2 * innerHeight);
      if (lines.length >= most || apart) {
        beyond += 1 + el.getElementsByTagName("*").length;
        return;
      }
      const acts = matches(el, ACTIVE) || inviting(el);
      const role = roleOf(el);
      const own = [...el.childNodes].filter((one) => one.nodeType === 3).map((one) => one.data).join(" ");
      let inner = level;
      if (!hiddenBy(el) && (acts || SHOWN.test(role) || tidy(own))) {
        const shown = acts || !el.childElementCount;
        lines.push([level, role, shown ? nameOf(el, selectors) : "", acts ? placeOf(el) : null,
          { ...detail(el, selectors), text: shown || secret(el, selectors) ? "" : cut(own) }]);
        inner += 1;
      }
      if (acts && !el.querySelector("a,button,input,select,textarea")) return;
      for (const child of el.children) visit(child, inner);
      if (el.shadowRoot) for (const child of el.shadowRoot.children) visit(child, inner);
    };
    if (document.body) visit(document.body, depth);
    return { lines, beyond };
  }

  // ------------------------------------------------------------------------------------------------- reading

  const PASSED = new Set(
    ("h1 h2 h3 h4 h5 h6 p ul ol li dl dt dd table thead tbody tfoot tr th td caption pre code blockquote strong b em i " +
      "a br hr del s sub sup figure figcaption").split(" "),
  );
  const SILENT = new Set("script style noscript template head iframe frame object embed svg canvas audio video datalist option".split(" "));
  const ASIDE = "header,nav,footer,aside,[role=banner],[role=navigation],[role=contentinfo],[role=complementary],[role=search]," +
    "[aria-hidden=true],dialog:not([open])";
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
  const whole = (url) => {
    try {
      return new URL(url, document.baseURI).href;
    } catch {
      return url;
    }
  };

  function mainOf() {
    const found = [...document.querySelectorAll("main,[role=main]")].filter((one) => !hiddenBy(one));
    if (found.length === 1) return found[0];
    const articles = [...document.querySelectorAll("article")].filter((one) => !hiddenBy(one));
    return articles.length === 1 ? articles[0] : document.body;
  }

  // The page's text as plain HTML: what is seen, without scripts, styles, secrets and what people do not read.
  function readable(root, { main, selectors = [], most = 400000 }) {
    let html = "";
    let left = 0;
    const visit = (node) => {
      if (node.nodeType === 3) return void (html += escape(node.data));
      if (node.nodeType !== 1) return;
      const tag = tagOf(node);
      if (SILENT.has(tag)) return;
      if (html.length > most) return void (left += 1);
      const style = getComputedStyle(node);
      if (style.display === "none" || style.visibility === "hidden") return;
      if (main && node !== root && matches(node, ASIDE)) return;
      if (secret(node, selectors)) return void (html += escape(" ••• "));
      if (tag === "img") return void (html += node.alt ? `<img alt="${escape(node.alt)}" src="${escape(whole(node.getAttribute("src") || ""))}">` : "");
      if (tag === "select") return void (html += escape([...node.selectedOptions].map((one) => one.label).join(", ")));
      if (tag === "textarea" || tag === "input") {
        const type = typeOf(node);
        if (type === "hidden") return;
        if (type === "checkbox" || type === "radio") return void (html += node.checked ? "[x] " : "[ ] ");
        return void (html += escape(` ${node.value} `));
      }
      const kept = PASSED.has(tag) ? tag : style.display.startsWith("inline") || style.display === "contents" ? "span" : "div";
      const href = tag === "a" && node.hasAttribute("href") ? ` href="${escape(whole(node.getAttribute("href")))}"` : "";
      html += `<${kept}${href}>`;
      if (tag !== "br" && tag !== "hr") {
        const inner = node.shadowRoot || node;
        const children = tag === "slot" && node.assignedNodes().length ? node.assignedNodes() : inner.childNodes;
        for (const child of children) visit(child);
        html += `</${kept}>`;
      }
      if (kept === "div" || kept === "span") html += " ";
    };
    if (root) visit(root);
    return { html, left };
  }

  const pictures = (root) =>
    [...root.querySelectorAll("img")].filter((one) => !hiddenBy(one) && one.currentSrc).slice(0, 500)
      .map((one) => ({ url: one.currentSrc, alt: one.alt, box: box(one) }));

  const reading = (request) => readable(request.main ? mainOf() : document.body, request);
  const images = () => pictures(document);

  // -------------------------------------------------------------------------------------- what an action changes

  const SAYS = "dialog,output,label,[role=alert],[role=status]";
  const MODALS = "dialog[open],[role=dialog],[role=alertdialog],[role=alert],[role=status]";
  const seen = (el) => (el.checkVisibility ? el.checkVisibility({ visibilityProperty: true }) : !hiddenBy(el));

  // How a field or a switch stands, without what is written in it.
  function standing(el) {
    const tag = tagOf(el), type = typeOf(el);
    if (type === "checkbox" || type === "radio") return el.checked ? "on" : "off";
    if (tag === "select") return "at " + el.selectedIndex;
    if (type === "file") return el.files.length ? "filled" : "empty";
    if ((tag === "input" && !TYPES[type]) || tag === "textarea" || /^(number|search|range|color)$/.test(type)) return el.value ? "filled" : "empty";
    for (const name of ["aria-checked", "aria-pressed", "aria-expanded", "aria-selected"])
      if (el.hasAttribute(name)) return `${name.slice(5)} ${el.getAttribute(name)}`;
    return "";
  }

  // What the page shows, one line an element ("role⇥name⇥standing"), cheaply: two of these tell what has changed.
  function digest({ selectors = [], most = 2500 }) {
    const lines = [];
    let left = most;
    const all = (root) => {
      for (const el of root.querySelectorAll("*")) {
        if (left-- <= 0) return;
        if (el.shadowRoot) all(el.shadowRoot);
        told(el);
      }
    };
    const told = (el) => {
      const acts = matches(el, ACTIVE), head = !acts && (matches(el, HEADINGS) || matches(el, SAYS));
      let own = "";
      if (!FIELD.has(tagOf(el))) for (const one of el.childNodes) if (one.nodeType === 3) own += one.data;
      own = cut(own, 60);
      if ((!acts && !head && !own) || matches(el, "script,style,title,option,noscript,template") || !seen(el)) return;
      if (selectors.some((one) => matches(el, one) || el.closest(one))) return;
      const role = roleOf(el);
      const typed = editable(el) && role === "textbox";
      const button = /^(submit|button|reset)$/.test(typeOf(el)) && tagOf(el) === "input";
      let name = typed ? "" : el.getAttribute("aria-label") || own || (button ? el.value : "");
      if (!name && acts)
        name = el.getAttribute("placeholder") || el.title || el.getAttribute("alt") || el.getAttribute("name") || el.id ||
          (el.childElementCount < 8 ? el.textContent : "");
      if (!name && !acts && role === "generic") return;
      lines.push(`${role === "generic" ? "text" : role}\t${cut(name, 60)}\t${acts ? standing(el) : ""}`);
    };
    all(document);
    if (left < 0) for (const el of document.querySelectorAll(MODALS)) if (seen(el)) lines.push(`${roleOf(el)}\t${cut(nameOf(el, selectors), 60)}\t`);
    return { url: location.href, title: document.title, lines: lines.join("\n"), whole: left >= 0 };
  }

  // -------------------------------------------------------------------------------------- what lies over an element

  // The layer that covers an element: whether it is one that pages lay over others, and what may close it.
  function overlay(el) {
    const [x, y, width, height] = box(el);
    const left = Math.max(x, 0), right = Math.min(x + width, innerWidth);
    const top = Math.max(y, 0), bottom = Math.min(y + height, innerHeight);
    if (right - left <= MARGIN || bottom - top <= MARGIN) return null;
    const found = hit((left + right) / 2, (top + bottom) / 2);
    if (!found || within(found, el) || within(el, found)) return null;
    let layer = null, modal = false;
    for (let at = found; at && !within(el, at); at = outer(at)) {
      const dialog = tagOf(at) === "dialog" || /^(dialog|alertdialog)$/.test(roleOf(at)) || at.getAttribute("aria-modal") === "true";
      if (dialog || /^(fixed|absolute|sticky)$/.test(getComputedStyle(at).position)) layer = at;
      modal ||= dialog;
    }
    if (!layer) return { over: false, described: describe(found) };
    // A backdrop is often the dialog's sibling: its exit is in the dialog.
    const asks = (one) => one.querySelector("button,[role=button],a,input[type=button],input[type=submit]");
    let holder = layer;
    if (!asks(layer)) {
      const beside = [...document.querySelectorAll("dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true]")].filter((one) => seen(one) && !within(el, one));
      if (beside.length === 1) [holder, modal] = [beside[0], true];
    }
    const exits = [...holder.querySelectorAll("button,[role=button],a,input[type=button],input[type=submit]")].filter(seen).slice(0, 30)
      .map((one) => ({ name: cut(nameOf(one), 60), described: describe(one), selector: placeOf(one),
        leads: tagOf(one) === "a" && one.hasAttribute("href") && !/^(#|javascript:)/.test(one.getAttribute("href")),
        submits: Boolean(one.form) && /^(submit|image)$/.test(typeOf(one)) && one.form.getAttribute("method") !== "dialog" }));
    const moves = layer.getAnimations({ subtree: true }).some((one) => one.playState === "running" && Number.isFinite(one.effect?.getComputedTiming().endTime));
    return { over: true, modal, moves, described: describe(holder), text: cut(holder.textContent, 600), exits,
      fields: [...holder.querySelectorAll("input:not([type=hidden]):not([type=checkbox]):not([type=radio]),textarea,select")].filter(seen).length };
  }

  const hides = (el, selectors) => secret(el, selectors) ||
    selectors.some((selector) => near(el, selector) || holds(el, selector));

  const selectorsOf = (el, selectors = []) => ({
    test_id: ["data-testid", "data-test-id", "data-test"].filter((name) => el.hasAttribute(name))
      .map((name) => `[${name}=${quote(el.getAttribute(name))}]`)[0] ?? null,
    css: cssOf(el),
    place: cssPath(el, false),
    xpath: xpathOf(el),
    role: roleOf(el),
    name: nameOf(el),
    text: cut(el.textContent, 80),
    field: FIELD.has(tagOf(el)) || editable(el),
    secret: hides(el, selectors),
  });

  // Which of the selectors that were made of an element name it alone. Of roles and texts only Playwright can tell, and
  // where there are shadow roots, which it looks into, of all but XPath.
  function aloneOf(el, names) {
    if (el.getRootNode() !== document) return {};
    const found = {};
    const deep = [...document.querySelectorAll("*")].some((one) => one.shadowRoot);
    const styles = deep ? [] : [["", names.test_id], ["css=", names.css], ["css=", names.place]];
    for (const [mark, selector] of styles) if (selector) found[mark + selector] = sole(document, selector);
    if (names.xpath) {
      const all = document.evaluate(names.xpath, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
      found["xpath=" + names.xpath] = all.snapshotLength === 1 && all.snapshotItem(0) === el;
    }
    return found;
  }

  // ------------------------------------------------------------------------------- the words of a script, on the page

  const PRESSED = "a,button,summary,label,option,[role=button],[role=link],[role^=menuitem],[role=tab],[role=option]," +
    "[role=checkbox],[role=radio],[role=switch],[role=treeitem]";
  const ICON = /(^|[\s_-])(icons?|material|symbols?|glyphicon|fa|fas|far|bi|mdi)([\s_-]|$)/i;
  const BADGE = /(^|[\s_-])(badge|pill|chip|count|counter|indicator|dot)s?([\s_-]|$)/i;
  const UNSEEN = /(^|[\s_-])(sr-only|visually-?hidden|screen-?reader(-text)?|offscreen)([\s_-]|$)/i;
  const squeezed = (text) => tidy(text).toLowerCase();

  // A text that is set beside a name: a badge, a key, a text for screen readers alone.
  function apart(el) {
    const classes = el.getAttribute("class") || "";
    if (/^(kbd|sup)$/.test(tagOf(el)) || el.getAttribute("aria-hidden") === "true" || BADGE.test(classes) || UNSEEN.test(classes)) return true;
    const [x, y, width, height] = box(el);
    return /^(absolute|fixed)$/.test(getComputedStyle(el).position) && (width <= 1 || height <= 1 || x < -500 || y < -5000);
  }

  // The lines that an element shows, without fields and icons: of each the name, and the texts that are set beside it.
  function linesOf(el, selectors, most = 24) {
    const lines = [["", ""]];
    const end = () => lines[lines.length - 1].some(tidy) && lines.push(["", ""]);
    const walk = (node, aside) => {
      const row = node.nodeType === 1 && /flex/.test(getComputedStyle(node).display) && /^row/.test(getComputedStyle(node).flexDirection);
      for (const child of shownIn(node)) {
        if (lines.length > most) return;
        if (child.nodeType === 3) lines[lines.length - 1][aside] += child.data.slice(0, 400);
        if (child.nodeType !== 1 || matches(child, "script,style,template,textarea,select,svg") || editable(child)) continue;
        if (selectors.some((one) => matches(child, one))) continue;
        const style = getComputedStyle(child);
        if (style.display === "none" || style.visibility === "hidden") continue;
        const icon = ICON.test(child.getAttribute("class") || "") || (tagOf(child) === "i" && child.getAttribute("aria-hidden") === "true");
        if (icon && !/\s/.test(tidy(child.textContent))) continue;
        const block = tagOf(child) === "br" || matches(child, PRESSED) || (!row && !/^(inline|contents)/.test(style.display));
        if (block) end();
        else if (row) lines[lines.length - 1][aside] += " ";
        walk(child.shadowRoot || child, aside || apart(child) ? 1 : 0);
        if (block) end();
        else if (row) lines[lines.length - 1][aside] += " ";
      }
    };
    walk(el.shadowRoot || el, 0);
    return lines.map((line) => line.map((text) => cut(text, 200))).filter((line) => line.some(Boolean));
  }

  // The smallest texts that say some words, in the nearest box around an element that says them; and what the records
  // beside that box say.
  function saying(el, text, selectors, from = outer(el)) {
    const wanted = squeezed(text);
    for (let at = from; at && tagOf(at) !== "html"; at = outer(at)) {
      const label = tidy(at.getAttribute("aria-label"));
      const whole = textOf(at, selectors, 4000);
      if (!squeezed(`${label}\n${whole}`).includes(wanted)) continue;
      const texts = squeezed(label).includes(wanted) ? [label] : [];
      // A button is named by all that it shows, also by what stands in its slots.
      const entire = (node) => from === el && matches(node, "button,[role=button],[role^=menuitem]");
      const dig = (node) => {
        const inner = entire(node) ? [] : [...(node.shadowRoot || node).children].filter((one) => squeezed(textOf(one, selectors, 2000)).includes(wanted));
        if (inner.length) return inner.forEach(dig);
        const lines = linesOf(node, selectors).map(([name]) => name).filter((one) => squeezed(one).includes(wanted));
        if (texts.length < 12) texts.push(...(lines.length ? lines : [textOf(node, selectors, 400)]));
      };
      if (squeezed(whole).includes(wanted)) dig(at);
      let row = at;
      for (let up = 0; up < 3 && row.parentElement && !kindred(row).length; up += 1) row = row.parentElement;
      return { texts, beside: cut(kindred(row).slice(0, 20).map((one) => textOf(one, selectors, 100)).join(" \n "), 2000) };
    }
    return null;
  }

  const slug = (text) => (text || "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

  // All that a page says of an element where a script's selector has words: `words` its own, `context` those of the boxes
  // around it, `slugs` those of an id or a value, without signs between them.
  function wording(el, selectors, { words, context, slugs }) {
    const control = el.closest(PRESSED) || el;
    const field = FIELD.has(tagOf(el)) || editable(el);
    const lines = field ? [] : linesOf(control, selectors);
    // A choice of a list is a record, and may have texts besides its name.
    const pressed = matches(control, PRESSED) && tagOf(control) !== "label" && !/^(option|treeitem)$/.test(roleOf(control));
    const button = /^(submit|button|reset)$/.test(typeOf(el));
    const labels = [labelOf(el, selectors), control.getAttribute("aria-label"), el.title, el.alt, el.placeholder,
      button ? el.value : "", field && !button ? captionOf(el, selectors) : ""];
    const own = slug(nameOf(control, selectors)), role = roleOf(control);
    const rivals = slugs.length && !slugs.includes(own)
      ? [...document.querySelectorAll(field ? "input,select,textarea" : PRESSED)].slice(0, 400)
        .filter((one) => one !== control && roleOf(one) === role && !hiddenBy(one)).map((one) => nameOf(one, selectors))
        .filter((name) => slugs.includes(slug(name)))
      : [];
    return {
      lines, field, rivals, seen: !hiddenBy(el),
      names: labels.map((one) => cut(one || "", 200)).filter(Boolean),
      within: words && !field && (lines.length > 1 || (!pressed && control.childElementCount > 0)) ? saying(control, words, selectors, control) : null,
      around: context.map((text) => saying(el, text, selectors)),
    };
  }

  // All that is asked of an element before it is acted on.
  function known(el, selectors = [], words = null) {
    if (!el.isConnected) throw new Error("the element is not attached: it was replaced just now");
    const names = selectorsOf(el, selectors);
    const count = document.getElementsByTagName("*").length;
    const obstacle = hiddenBy(el) ? "hidden" : disabled(el) ? "disabled" : cover(el) ? "covered" : "";
    return { fingerprint: fingerprint(el, selectors), obstacle, names, count, alone: aloneOf(el, names), spot: placeOf(el),
      wording: words && wording(el, selectors, words) };
  }

  return { probe, wording, state, busy, known, recordOf, roleOf, digest, overlay, candidates, inset, facts, outline, fingerprint, selectorsOf, secret, box, coverAt, describe, nameOf, readable, pictures, reading, images, shown: (el) => !hiddenBy(el) };
})()
