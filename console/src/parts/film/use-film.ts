/** A session as the server tells it: its film, its video once there is one, and its pictures while it goes on. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { get, path } from "../../client";
import { useHappened, useStream } from "../../live";
import type { Job } from "../../model";
import type { Film, Frame, SessionVideo } from "./types";

/** Pictures of a live session that are kept to go back in: some seventy kilobytes each. */
const KEPT = 600;

export function useFilm(id: string, number: number) {
  const where = path("recordings", id, "sessions", number);
  return useQuery({
    queryKey: ["film", id, number],
    queryFn: ({ signal }) => get<Film>(`${where}/film`, {}, signal),
  });
}

/** The video of a session that is over, and how far its making is; null and null where there will be none. */
export function useVideo(film: Film | undefined): { video: SessionVideo | null; making: Job | null } {
  const wanted = Boolean(film?.over && film.scenes.length);
  const where = film ? path("recordings", film.recording, "sessions", film.session) : "";
  const asked = useQuery({
    queryKey: ["video", film?.recording, film?.session],
    queryFn: ({ signal }) => get<SessionVideo | Job>(`${where}/video`, {}, signal),
    enabled: wanted,
    staleTime: 30 * 60_000,
    retry: false,
  });
  const cache = useQueryClient();
  const told = asked.data;
  const job = told && "kind" in told && !asked.error ? told : null;
  useStream(job ? `${path("jobs", job.id)}/live` : null, {
    job: (moved: Job) => {
      if (moved.status === "queued" || moved.status === "running") {
        cache.setQueryData(["video", film?.recording, film?.session], moved);
      } else void asked.refetch();
    },
  });
  return { video: told && "url" in told ? told : null, making: job };
}

/** What comes of a session that goes on: its pictures, and its film anew when there is more of it. */
export function useLive(film: Film | undefined): { frames: readonly Frame[]; edge: number } {
  const [frames, setFrames] = useState<readonly Frame[]>([]);
  const [edge, setEdge] = useState(0);
  const cache = useQueryClient();
  const busy = useRef(false);
  const again = useRef(false);
  const id = film?.recording ?? "";
  const number = film?.session ?? 0;
  const refresh = useCallback(async () => {
    if (busy.current) {
      again.current = true;
      return;
    }
    busy.current = true;
    const began = performance.now();
    await cache.invalidateQueries({ queryKey: ["film", id, number] });
    // A long session's film takes a while: the page is not to do nothing else.
    const rest = Math.max(500, 3 * (performance.now() - began));
    window.setTimeout(() => {
      busy.current = false;
      if (again.current) {
        again.current = false;
        void refresh();
      }
    }, rest);
  }, [cache, id, number]);
  const where = film && !film.over ? path("recordings", id, "sessions", number, "live") : null;
  useStream(where, {
    frame: (frame: Frame) => {
      setFrames((known) => [...known.filter((one) => one.t < frame.t).slice(-KEPT), frame]);
      setEdge((known) => Math.max(known, frame.t));
    },
    grown: ({ t }: { t: number }) => {
      setEdge((known) => Math.max(known, t));
      void refresh();
    },
  });
  // A run that was killed writes no end: its recording says so.
  useHappened("recording", (line) => {
    if (line.id === id && !line.live) void refresh();
  });
  useEffect(() => {
    if (film) setEdge((known) => Math.max(known, film.duration));
  }, [film]);
  return { frames, edge };
}

/** The moments at which something happens. */
export function busyOf(film: Film): number[] {
  const found = new Set<number>(film.scenes);
  for (const step of film.steps) {
    found.add(step.t);
    if (step.end !== null) found.add(step.end);
  }
  for (const line of film.console) found.add(line.t);
  return [...found].sort((one, other) => one - other);
}

/** The time of the first settled picture: the last one before the second action begins. */
export function settled(film: Film): number {
  const [first, second] = film.steps.filter((step) => step.acts && step.end !== null);
  if (!first) return 0;
  const until = second?.t ?? film.duration;
  const shown = film.scenes.filter((t) => t <= until);
  return Math.min(Math.max(shown.at(-1) ?? 0, first.end ?? first.t), Math.max(until - 0.001, 0));
}
