// The viewer: a page without data, which shows the page in a recording's file, or one that Reenact has written.
//
// What is opened is hostile. Nothing of it is inserted as markup: it is parsed in a document that runs and loads nothing, and
// built again, element by element, from the lists below. Of a film only base64 is taken, for the viewer's own player.

const PLAYER = JSON.parse(document.getElementById("player").textContent);
const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const TAGS = new Set(("article b code dd del details div dl dt h1 h2 header img ins main nav p pre section span strong summary " +
  "a table tbody td th thead tr").split(" "));
const DRAWN = new Set(["svg", "rect", "title"]);
const ATTRIBUTES = {
  class: /^[\w -]{0,200}$/, id: /^[\w-]{1,100}$/, tabindex: /^0$/, open: /^$/, role: /^img$/, "aria-label": /^/, "aria-hidden": /^true$/,
  alt: /^/, href: /^#[\w-]{1,100}$/, viewBox: /^[\d. ]{1,40}$/, preserveAspectRatio: /^none$/,
  x: /^[\d.]{1,20}$/, width: /^[\d.]{1,20}$/, height: /^[\d.]{1,20}$/,
};
const NUMBER = /<meta name="reenact-page" content="(\d{1,5})">/;
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,/, NO_BASE64 = /[^A-Za-z0-9+/=\n]/;
const SLOTS = /^(data|rest|(thumbnails|video|pictures|images|moments|parts)-[01])$/;
const WANTED = /\.(reenact|html?|zip)$/i;
const ELEMENTS = 1_000_000, FILES = 2_000;

const part = (name) => document.getElementById(name);

function made(tag, kind, ...inside) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...inside);
  return element;
}

// -- files ---------------------------------------------------------------------------------------------------

/** Return what a file offers to show: names, and functions that give the text of a page. */
async function offersOf(blob, name, inside = false) {
  if (!(await isZip(blob))) {
    if (blob.size > LARGEST) throw new Refused("is no recording, or too large for this page");
    return [{ name, text: () => blob.text() }];
  }
  const members = await membersOf(blob), page = members.find((member) => member.name === "page.html");
  if (members.some((member) => member.name === "manifest.json")) {
    if (!page) throw new Refused(`has no page in it, as it was written for tests, or by an earlier version. This writes one: reenact export ${name} --html`);
    return [{ name, text: async () => (await contentOf(blob, page)).text() }];
  }
  const wanted = inside ? [] : members.filter((member) => WANTED.test(member.name));
  if (!wanted.length) throw new Refused("is a zip file without a recording's file or a page of Reenact");
  return wanted.map((member) => ({ name: member.name, text: () => textIn(blob, member) }));
}

async function textIn(blob, member) {
  const [offer] = await offersOf(await contentOf(blob, member), member.name.split("/").pop(), true);
  return offer.text();
}

/** Return the dropped files, with those of dropped folders. */
async function filesOf(transfer) {
  const files = Array.from(transfer.files, (blob) => ({ name: blob.name, blob }));
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return files;
  try {
    return await filesBelow(entries);
  } catch {
    // Of a page that is a file itself, Chromium reads no dropped folders.
    throw new Refused("The browser does not read this folder when it is dropped: choose it by “Open a folder”.");
  }
}

async function filesBelow(entries) {
  const found = [];
  for (let entry; (entry = entries.shift()) && found.length < FILES;) {
    if (entry.isFile) {
      if (WANTED.test(entry.name)) found.push({ name: entry.fullPath.slice(1), blob: await new Promise((done, failed) => { entry.file(done, failed); }) });
      continue;
    }
    const reader = entry.createReader();
    for (let more; !more || more.length;) {
      more = await new Promise((done, failed) => { reader.readEntries(done, failed); });
      entries.push(...more.slice(0, FILES));
    }
  }
  return found;
}

/** Show files: the only page in them, or a list to choose from. */
async function open(given) {
  const files = (await given).slice(0, FILES);
  const offers = [], problems = [];
  for (const { name, blob } of files) {
    say(`Reading ${name} …`);
    try { offers.push(...(await offersOf(blob, name))); } catch (error) { problems.push(sentence(name, error)); }
  }
  say("");
  if (!offers.length) throw new Refused(problems[0] ?? "There is no recording's file, no page of Reenact and no zip file in it.");
  part("back").onclick = () => choose(offers);
  part("back").textContent = `All ${offers.length} files`;
  if (offers.length > 1) choose(offers);
  else await show(offers[0], false);
}

function choose(offers) {
  const list = offers.sort((one, other) => (one.name < other.name ? -1 : 1)).map((offer) => {
    const button = made("button", "", offer.name);
    button.type = "button";
    button.addEventListener("click", () => act(() => show(offer, true)));
    return made("li", "", button);
  });
  put("", made("main", "choice", made("h1", "", `${offers.length} files`), made("ul", "", ...list)));
}

// -- pages ---------------------------------------------------------------------------------------------------

async function show(offer, several) {
  say(`Reading ${offer.name} …`);
  let content;
  try { content = contentOfPage(await offer.text()); } catch (error) { throw new Refused(sentence(offer.name, error)); }
  say("");
  put(offer.name, ...content.parts);
  document.body.classList.toggle("wide", content.wide);
  part("back").hidden = !several;
}

/** Return the parts of a page that Reenact has written, built again. Throws Refused for another one. */
function contentOfPage(text) {
  let count = 0;
  for (let at = text.indexOf("<"); at >= 0 && count <= ELEMENTS; at = text.indexOf("<", at + 1)) count++;
  if (count > ELEMENTS) throw new Refused("is too large for this page");
  const number = Number(NUMBER.exec(text.slice(0, text.indexOf("<body")))?.[1] ?? 0);
  if (!number) throw new Refused("is no recording's file, and no page that this version of Reenact has written");
  if (number !== PLAYER.number) throw new Refused("was written by another version of Reenact: open the viewer of that version");
  const page = parsed(text), film = filmOf(page);
  const parts = film ? [made("main", "", film)] : [...page.querySelectorAll("body > header, body > main")].map(rebuilt);
  return { parts, wide: page.body.className === "wide" };
}

/** Return the body of a page in a document of its own: it runs nothing, loads nothing and has no head. */
function parsed(text) {
  return new DOMParser().parseFromString(text.slice(Math.max(0, text.indexOf("<body"))), "text/html");
}

function rebuilt(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  const tag = node.localName, drawn = node.namespaceURI === SVG && DRAWN.has(tag);
  if (tag === "iframe" && node.className === "film") return filmOf(parsed(node.getAttribute("srcdoc") ?? "")) ?? "";
  if (!drawn && !(node.namespaceURI === HTML && TAGS.has(tag))) return "";
  // A link that leads out of the page, or saves a file, stays its text.
  if (tag === "a" && !ATTRIBUTES.href.test(node.getAttribute("href") ?? "")) return made("span", "", node.textContent);
  const element = document.createElementNS(drawn ? SVG : HTML, tag);
  for (const { name, value } of node.attributes) if (ATTRIBUTES[name]?.test(value)) element.setAttribute(name, value);
  if (tag === "img") {
    const data = node.getAttribute("src") ?? "", kind = PICTURE.exec(data);
    if (kind && !NO_BASE64.test(data.slice(kind[0].length))) element.src = data;
  }
  element.append(...Array.from(node.childNodes, rebuilt));
  return element;
}

/** Return a frame with the viewer's player and the data of a film; null without one. */
function filmOf(page) {
  const found = new Map();
  for (const { id, textContent } of page.querySelectorAll('script[type="text/plain"][id]')) {
    if (SLOTS.test(id) && !NO_BASE64.test(textContent)) found.set(id, `<script type="text/plain" id="${id}">${textContent}<\/script>\n`);
  }
  if (!found.has("data") || !found.has("rest")) return null;
  const [before, script, after] = PLAYER.pieces, data = found.get("data");
  found.delete("data");
  const frame = made("iframe", "film");
  frame.title = "The browser session";
  frame.sandbox = found.has("moments-0") || found.has("moments-1") ? "allow-scripts allow-same-origin" : "allow-scripts";
  frame.srcdoc = [before, data, script, ...found.values(), after].join("");
  return frame;
}

// -- the page around it --------------------------------------------------------------------------------------

function sentence(name, error) {
  const why = error instanceof Refused ? error.message : `cannot be read (${error.message})`;
  return `${name} ${why}`;
}

function say(text) {
  part("state").textContent = text;
}

function put(name, ...parts) {
  part("problem").hidden = true;
  part("back").hidden = true;
  document.body.classList.remove("wide");
  part("shown").replaceChildren(...parts);
  const heading = part("shown").querySelector("h1");
  document.title = heading?.textContent || name;
  part("name").textContent = name;
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}

async function act(work) {
  part("problem").hidden = true;
  try {
    await work();
  } catch (error) {
    say("");
    part("problem").textContent = typeof DecompressionStream === "undefined" ? "This page needs a browser of 2023 or later." : error.message;
    part("problem").hidden = false;
  }
}

for (const [button, field] of [["choose", "file"], ["choose-folder", "folder"]]) {
  part(button).addEventListener("click", () => part(field).click());
  part(field).addEventListener("change", () => {
    const files = Array.from(part(field).files, (blob) => ({ name: blob.webkitRelativePath || blob.name, blob }));
    part(field).value = "";
    if (files.length) act(() => open(field === "folder" ? files.filter(({ name }) => WANTED.test(name)) : files));
  });
}
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("over");
});
for (const name of ["dragleave", "drop"]) addEventListener(name, (event) => {
  if (name === "drop" || !event.relatedTarget) document.body.classList.remove("over");
});
addEventListener("drop", (event) => {
  event.preventDefault();
  const files = filesOf(event.dataTransfer);
  act(() => open(files));
});
