/** What the page of a recording asks for, and how it stays as it is now while the recording grows. */

import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { get, path } from "../../client";
import { meant } from "../../filter";
import { useStream } from "../../live";
import type {
  Conversation,
  Findings,
  Item,
  Lanes,
  Recordings,
  Row,
  Rows,
  StepWhole,
  Whole,
} from "../../model";
import type { Page } from "../../windowed";

export const ROWS = 250;
export const TALK = 50;

/** A recording; what the list knows of it is there at once. */
export function useWhole(id: string) {
  const cache = useQueryClient();
  return useQuery<Whole>({
    placeholderData: () => {
      const pages = cache.getQueriesData<Recordings>({ queryKey: ["recordings"] });
      const line = pages.flatMap(([, page]) => page?.items ?? []).find((one) => one.id === id);
      return line && { ...line, ...UNTOLD };
    },
    queryKey: ["recording", id],
    queryFn: ({ signal }) => get<Whole>(path("recordings", id), {}, signal),
  });
}

/** Ask for the part of the conversation that is seen first at once, and not when the rest of the page is there. */
export function useBeginning(id: string, step: number | null) {
  const cache = useQueryClient();
  const first = useRef(Math.floor(((step ?? 1) - 1) / TALK));
  useEffect(() => {
    const page = Math.max(first.current, 0);
    void cache.prefetchQuery({
      queryKey: ["talk", id, page],
      queryFn: ({ signal }) => askTalk(id)(page * TALK, signal),
    });
  }, [cache, id]);
}

const UNTOLD = {
  labels: [],
  header: {},
  program: null,
  source: null,
  notes: [],
  output: null,
  torn: false,
  processes: [],
  browser_sessions: [],
} satisfies Partial<Whole>;

export function useFindings(id: string) {
  return useQuery({
    queryKey: ["findings", id],
    queryFn: ({ signal }) => get<Findings>(path("recordings", id, "anomalies"), {}, signal),
    placeholderData: keepPreviousData,
  });
}

export function useLanes(id: string) {
  return useQuery({
    queryKey: ["lanes", id],
    queryFn: ({ signal }) => get<Lanes>(path("recordings", id, "lanes"), {}, signal),
    placeholderData: (before, query) => (query?.queryKey[1] === id ? before : undefined),
  });
}

export function useHits(id: string, words: string) {
  return useQuery({
    queryKey: ["hits", id, words],
    queryFn: ({ signal }) =>
      get<{ steps: number[] }>(path("recordings", id, "search"), { q: meant(words) }, signal),
    enabled: words !== "",
  });
}

function stepQuery(id: string, step: number) {
  return {
    queryKey: ["step", id, step],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      get<StepWhole>(path("recordings", id, "steps", step), {}, signal),
  };
}

/** A step whole. The step of before stays until the next is there, and the one after it is fetched already. */
export function useStep(id: string, step: number, total: number) {
  const cache = useQueryClient();
  const found = useQuery({
    ...stepQuery(id, step),
    placeholderData: (before: StepWhole | undefined, query) =>
      query?.queryKey[1] === id ? before : undefined,
  });
  if (found.isSuccess && !found.isPlaceholderData && step < total)
    void cache.prefetchQuery(stepQuery(id, step + 1));
  return found;
}

export function askRows(id: string) {
  return (offset: number, signal: AbortSignal) =>
    get<Rows>(path("recordings", id, "steps"), { offset, limit: ROWS }, signal);
}

/** The conversation by steps: each has what was said and done in it. */
export function askTalk(id: string) {
  return async (offset: number, signal: AbortSignal): Promise<Page<Item[]>> => {
    const found = await get<Conversation>(
      path("recordings", id, "conversation"),
      { offset, limit: TALK },
      signal,
    );
    const items: Item[][] = Array.from(
      { length: Math.max(0, Math.min(TALK, found.total - offset)) },
      () => [],
    );
    for (const item of found.items) items[item.step - 1 - offset]?.push(item);
    return { items, total: found.total };
  };
}

/** Take up what is written while one looks. */
export function useGrowth(id: string, live: boolean): void {
  const cache = useQueryClient();
  const waiting = useRef<number | undefined>(undefined);
  const slowly = () => {
    waiting.current ??= window.setTimeout(() => {
      waiting.current = undefined;
      for (const name of ["lanes", "findings"]) void cache.invalidateQueries({ queryKey: [name, id] });
    }, 1500);
  };
  useStream(live ? path("recordings", id, "live") : null, {
    rows: (told: { items: Row[]; total: number }) => {
      taken(cache, id, told);
      slowly();
    },
    sealed: () => {
      for (const name of ["recording", "rows", "talk", "step", "lanes", "findings"]) {
        void cache.invalidateQueries({ queryKey: [name, id] });
      }
    },
  });
}

function taken(cache: QueryClient, id: string, told: { items: Row[]; total: number }): void {
  cache.setQueryData<Whole>(["recording", id], (known) => known && { ...known, steps: told.total });
  const touched = new Set(told.items.map((row) => Math.floor((row.step - 1) / ROWS)));
  for (const [key, page] of cache.getQueriesData<Rows>({ queryKey: ["rows", id] })) {
    if (!page) continue;
    const number = Number(key.at(-1));
    const items = [...page.items];
    if (touched.has(number)) {
      for (const row of told.items) {
        const place = row.step - 1 - number * ROWS;
        if (place >= 0 && place < ROWS && place <= items.length) items[place] = row;
      }
    }
    cache.setQueryData<Rows>(key, { items, total: told.total });
  }
  for (const row of told.items) void cache.invalidateQueries({ queryKey: ["step", id, row.step] });
  const talk = new Set(told.items.map((row) => Math.floor((row.step - 1) / TALK)));
  void cache.invalidateQueries({
    queryKey: ["talk", id],
    predicate: (query) => talk.has(Number(query.queryKey.at(-1))),
  });
  cache.setQueriesData<Page<Item[]>>(
    { queryKey: ["talk", id] },
    (page) => page && { ...page, total: told.total },
  );
}
