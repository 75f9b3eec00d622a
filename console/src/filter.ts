/** Filters as text: what a person means by a few words, and terms that come and go. */

let list = "/";

/** Where the list was left: with its filter, and what was chosen. */
export function listAt(): string {
  return list;
}

/** The list is shown at this address. */
export function listIsAt(address: string): void {
  list = address;
}

/** The page that compares the recordings that are chosen in a list. */
export function comparing(list: URLSearchParams): string {
  const chosen = (list.get("x") ?? "").split(",").filter(Boolean).map(encodeURIComponent);
  if (chosen.length === 2) return `/compare/${chosen.join("/")}`;
  return chosen.length === 1 ? `/compare?a=${chosen[0]}` : "/compare";
}

const WORDS = new Set(["and", "or", "not", "model", "tool", "http", "error", "cancelled", "unanswered"]);

/**
 * What somebody means who types plain words: a text, where the language of filters knows kinds of steps only. One word
 * may be either.
 */
export function meant(typed: string): string {
  const text = typed.trim();
  if (!/^[\p{L}\p{N}@._\- ]+$/u.test(text) || text.split(/ +/).some((word) => WORDS.has(word))) return text;
  return /^[a-z_]+$/.test(text) ? `${text} or "${text}"` : `"${text}"`;
}

/** An id or its beginning: ten letters and digits, without the letters i, l, o and u. */
const ID = /^[0-9a-hjkmnp-tv-z]{4,10}$/;

/** The recordings that somebody means: those with that text, those of that name, and the one with that id. */
export function sought(typed: string): string {
  const text = typed.trim();
  const found = meant(text);
  if (!text || found === text) return found;
  return `name ~ ${JSON.stringify(text)} or ${found}${ID.test(text) ? ` or id:${text}*` : ""}`;
}

/** Whether a filter has a term, joined by `and` to the rest. */
export function has(filter: string, term: string): boolean {
  return pieces(filter).includes(term);
}

/** A filter with a term, or without it where it had it. */
export function toggled(filter: string, term: string): string {
  if (has(filter, term))
    return pieces(filter)
      .filter((piece) => piece !== term)
      .join(" ");
  const before = sought(filter).trim();
  if (!before) return term;
  return /\bor\b/.test(before.replace(/"[^"]*"|\([^)]*\)/g, ""))
    ? `(${before}) ${term}`
    : `${before} ${term}`;
}

/** The terms of a filter: divided at spaces outside of quotes and parentheses. A comparison (`cost > 1`) is one. */
function pieces(filter: string): string[] {
  const words = filter.match(/(?:\([^)]*\)|"[^"]*"|'[^']*'|[^\s"'(])+/g) ?? [];
  const found: string[] = [];
  for (let place = 0; place < words.length; place++) {
    const word = words[place] ?? "";
    if (/^(==|=|!=|<|<=|>|>=|~|!~)$/.test(word) && found.length) {
      found[found.length - 1] += ` ${word} ${words[++place] ?? ""}`;
    } else if (word === "not") {
      found.push(`not ${words[++place] ?? ""}`);
    } else if (word !== "and") {
      found.push(word);
    }
  }
  return found;
}

/** A search that goes on in the background is asked again for what it has found since: after how many milliseconds. */
export function unfinished(answer: { complete: boolean } | undefined): number | false {
  return answer && !answer.complete ? 400 : false;
}
