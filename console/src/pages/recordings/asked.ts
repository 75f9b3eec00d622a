/** What is asked for and what is chosen: both stand in the address, so that a link shows the same. */

import { useSearchParams } from "wouter";
import { listIsAt, toggled } from "../../filter";

export interface Asked {
  filter: string;
  /** The order of the list, as the server names it. */
  sort: string;
  /** The ids that are chosen, at most two. */
  chosen: string[];
  /** Ask for what is typed, which makes no history. */
  ask: (filter: string) => void;
  /** Ask for another filter by a click: the browser's Back leads to the one before. */
  narrow: (filter: string) => void;
  /** Add a term, or take it away where it is there. */
  add: (term: string) => void;
  /** Choose a recording, or no longer. Of three, the first goes. */
  choose: (id: string) => void;
  clear: () => void;
  /** Sort by a column; a second time, in reverse. */
  sortBy: (order: string) => void;
  /** Show what a filter and an order ask for. */
  show: (filter: string, sort: string) => void;
  /** True if something else than all recordings by time is asked for. */
  special: boolean;
}

/** The order of a list that nothing else is asked of: the newest first. */
const NEWEST = "started";

export function useAsked(): Asked {
  const [words, setWords] = useSearchParams();
  listIsAt(words.size ? `/?${words}` : "/");
  const filter = words.get("q") ?? "";
  const sort = words.get("sort") || NEWEST;
  const chosen = (words.get("x") ?? "").split(",").filter(Boolean);
  const put = (wanted: Record<string, string>, replace = true) =>
    setWords(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(wanted)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      },
      { replace },
    );
  const ordered = (order: string) => (order === NEWEST ? "" : order);
  return {
    filter,
    sort,
    chosen,
    ask: (text) => put({ q: text }),
    narrow: (text) => put({ q: text }, false),
    add: (term) => put({ q: toggled(filter, term) }, false),
    choose: (id) =>
      put({
        x: (chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2)).join(","),
      }),
    clear: () => put({ x: "" }),
    sortBy: (order) => {
      const next = sort !== order ? order : order.startsWith("-") ? order.slice(1) : `-${order}`;
      put({ sort: ordered(next) }, false);
    },
    show: (text, order) => put({ q: text, sort: ordered(order) }, false),
    special: filter !== "" || sort !== NEWEST,
  };
}
