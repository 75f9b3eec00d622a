/** A long list of which only what is looked at is asked for: pages by offset, kept in the cache. */

import { type QueryKey, useQueries } from "@tanstack/react-query";
import { useCallback, useRef } from "react";

export interface Page<T> {
  items: T[];
  total: number;
}

export interface Windowed<T, P extends Page<T>> {
  /** What stands at a place, or undefined while it is on its way. */
  at: (place: number) => T | undefined;
  /** How many there are: as last known, 0 before anything is known. */
  total: number;
  /** Any page of those that are looked at, for what is said beside the items. */
  page: P | undefined;
  error: Error | null;
  /** Whether what is shown is that of the question before. */
  stale: boolean;
  /** Whether nothing has been answered yet. */
  waiting: boolean;
}

/**
 * Args:
 *   key: Names the question; a page's number is added.
 *   ask: Asks for a page, from an offset on.
 *   first, last: The places that are looked at.
 *   size: How many are asked for at once.
 *   again: After how many milliseconds a page is asked for anew, false for not.
 */
export function useWindowed<T, P extends Page<T>>(
  key: QueryKey,
  ask: (offset: number, signal: AbortSignal) => Promise<P>,
  first: number,
  last: number,
  size: number,
  again: (page: P) => number | false = () => false,
): Windowed<T, P> {
  const from = Math.floor(Math.max(first, 0) / size);
  const to = Math.max(from, Math.floor(Math.max(last, 0) / size));
  const numbers = Array.from({ length: Math.min(to - from + 1, 12) }, (_, index) => from + index);
  const known = useRef(0);
  const pages = useQueries({
    queries: numbers.map((number) => ({
      queryKey: [...key, number],
      queryFn: ({ signal }: { signal: AbortSignal }) => ask(number * size, signal),
      refetchInterval: (query: { state: { data: P | undefined } }) =>
        query.state.data !== undefined && again(query.state.data),
      // While one types, the list of before stays until the next is there; never one page in another's place.
      placeholderData: (before: P | undefined, query: { queryKey: QueryKey } | undefined) =>
        query?.queryKey.at(-1) === number ? before : undefined,
    })),
  });
  const fresh = pages.find((page) => page.data && !page.isPlaceholderData);
  const page = (fresh ?? pages.find((one) => one.data))?.data;
  if (page) known.current = page.total;
  const at = useCallback(
    (place: number) => pages[Math.floor(place / size) - from]?.data?.items[place % size],
    [pages, from, size],
  );
  return {
    at,
    page,
    total: page?.total ?? known.current,
    error: pages.find((one) => one.error)?.error ?? null,
    stale: pages.some((one) => one.isPlaceholderData),
    waiting: !page && pages.some((one) => one.isPending),
  };
}
