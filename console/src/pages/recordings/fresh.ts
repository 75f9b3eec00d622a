/** The list as it is now: what is told of a recording goes into the pages that have it. */

import type { QueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useHappened } from "../../live";
import type { Line, Recordings } from "../../model";

/** At the soft pace of a list that a person reads: at most every two seconds. */
const PACE = 2000;

export function useFresh(cache: QueryClient, filter: string): void {
  const waiting = useRef<number | undefined>(undefined);
  const again = () => {
    waiting.current ??= window.setTimeout(() => {
      waiting.current = undefined;
      for (const name of ["recordings", "facets", "trends"])
        void cache.invalidateQueries({ queryKey: [name] });
    }, PACE);
  };
  useEffect(() => () => window.clearTimeout(waiting.current), []);
  useHappened("recording", (line) => {
    let known = false;
    cache.setQueriesData<Recordings>({ queryKey: ["recordings", filter] }, (page) => {
      if (!page?.items.some((one) => one.id === line.id)) return page;
      known = true;
      return { ...page, items: page.items.map((one) => (one.id === line.id ? merged(one, line) : one)) };
    });
    if (!known || !line.live) again();
  });
  useHappened("gone", again);
}

/** What is told of a recording does not know in which steps this filter found something. */
function merged(before: Line, now: Line): Line {
  return { ...now, found_in: before.found_in };
}
