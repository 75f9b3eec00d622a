/** What is asked for and what is chosen: both stand in the address, so that a link shows the same. */

import { useSearchParams } from "wouter";

export interface Asked {
  filter: string;
  /** The ids that are chosen, at most two. */
  chosen: string[];
  ask: (filter: string) => void;
  /** Add a term, or take it away where it is there. */
  add: (term: string) => void;
  /** Choose a recording, or no longer. Of three, the first goes. */
  choose: (id: string) => void;
  clear: () => void;
}

export function useAsked(): Asked {
  const [words, setWords] = useSearchParams();
  const filter = words.get("q") ?? "";
  const chosen = (words.get("x") ?? "").split(",").filter(Boolean);
  const put = (name: string, value: string) =>
    setWords(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(name, value);
        else next.delete(name);
        return next;
      },
      { replace: true },
    );
  return {
    filter,
    chosen,
    ask: (text) => put("q", text),
    add: (term) => put("q", toggled(filter, term)),
    choose: (id) =>
      put(
        "x",
        (chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2)).join(","),
      ),
    clear: () => put("x", ""),
  };
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
  const before = filter.trim();
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
