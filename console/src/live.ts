/** The one connection over which the server tells what happens. Pages listen; the cache is kept fresh by `feed`. */

import type { QueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { API } from "./client";
import { parse } from "./json";
import type { Job, Line } from "./model";

/** What is told: a recording that is new or changed, one that is gone, a job that moved, that much was missed. */
export interface Happened {
  recording: Line;
  gone: { id: string };
  job: Job;
  reset: unknown;
}

type Listener<K extends keyof Happened> = (told: Happened[K]) => void;

const KINDS: (keyof Happened)[] = ["recording", "gone", "job", "reset"];
const listeners: { [K in keyof Happened]: Set<Listener<K>> } = {
  recording: new Set(),
  gone: new Set(),
  job: new Set(),
  reset: new Set(),
};

let source: EventSource | null = null;
let connected = false;
const watchers = new Set<() => void>();

function tell<K extends keyof Happened>(kind: K, told: Happened[K]): void {
  for (const listener of listeners[kind]) listener(told);
}

function turned(on: boolean): void {
  if (connected === on) return;
  connected = on;
  for (const watcher of watchers) watcher();
}

/** Connect, once; the browser connects again by itself where the connection breaks. */
export function connect(): void {
  if (source && source.readyState !== EventSource.CLOSED) return;
  source = new EventSource(`${API}/live`);
  source.addEventListener("hello", () => turned(true));
  source.onopen = () => turned(true);
  source.onerror = () => {
    turned(false);
    // After a refusal (a stopped server, a key that is needed) the browser does not try again.
    if (source?.readyState === EventSource.CLOSED) window.setTimeout(connect, 3000);
  };
  for (const kind of KINDS) {
    source.addEventListener(kind, (event) =>
      tell(kind, parse((event as MessageEvent<string>).data) as never),
    );
  }
}

/** Stop listening, as before a login. */
export function disconnect(): void {
  source?.close();
  source = null;
  turned(false);
}

/** Whether the server is heard. */
export function useConnected(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => connected,
  );
}

/** Hear of something while a component is there. */
export function useHappened<K extends keyof Happened>(kind: K, heard: Listener<K>): void {
  const latest = useRef(heard);
  latest.current = heard;
  useEffect(() => {
    const listener: Listener<K> = (told) => latest.current(told);
    listeners[kind].add(listener);
    return () => {
      listeners[kind].delete(listener);
    };
  }, [kind]);
}

/** A connection of a page's own, to one thing's stream: `useStream("/recordings/ID/live", {rows: …})`. */
export function useStream(where: string | null, heard: Record<string, (told: never) => void>): void {
  const latest = useRef(heard);
  latest.current = heard;
  useEffect(() => {
    if (where === null) return;
    const stream = new EventSource(API + where);
    for (const kind of Object.keys(latest.current)) {
      stream.addEventListener(kind, (event) =>
        latest.current[kind]?.(parse((event as MessageEvent<string>).data) as never),
      );
    }
    return () => stream.close();
  }, [where]);
}

/** Of two words about a job the later one: what has ended stays so, in whatever order they come. */
export function later(known: Job | undefined, told: Job): Job {
  return known?.ended && !told.ended ? known : told;
}

/** Keep what is in the cache as fresh as what is told. */
export function feed(cache: QueryClient): void {
  listeners.job.add((job) => {
    // The result of what has ended is not told to everybody: who looks at it asks for it.
    if (job.ended) void cache.invalidateQueries({ queryKey: ["job", job.id] });
    else cache.setQueryData<Job>(["job", job.id], (known) => known && later(known, job));
    cache.setQueryData<Job[]>(["jobs"], (known) => {
      if (!known) return known;
      const others = known.filter((one) => one.id !== job.id);
      const said = later(
        known.find((one) => one.id === job.id),
        job,
      );
      return [said, ...others].sort((a, b) => b.created.localeCompare(a.created));
    });
  });
  listeners.recording.add((line) => {
    const key = ["recording", line.id];
    const known = cache.getQueryData<Line>(key);
    if (!known) return;
    cache.setQueryData<Line>(key, { ...known, ...line });
    // A line has no labels of its own, only tags with them.
    const marks = (of: Line) => JSON.stringify([of.tags, of.note]);
    if (marks(known) !== marks(line)) void cache.invalidateQueries({ queryKey: key });
  });
  listeners.gone.add(({ id }) => {
    // The page that shows it asks again, and says that it is gone.
    cache.removeQueries({ queryKey: ["recording", id], type: "inactive" });
    void cache.invalidateQueries({ queryKey: ["recording", id] });
  });
  listeners.reset.add(() => void cache.invalidateQueries());
}
