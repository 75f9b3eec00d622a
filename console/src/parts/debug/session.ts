/** A debugging session as the server tells it, and what it is told to do. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { get, path, post } from "../../client";
import { useStream } from "../../live";
import type { components } from "../../schema";
import { complain } from "../../toasts";

type Schemas = components["schemas"];
export type Standing = Schemas["Standing"];
export type Differing = Schemas["Differing"];
export type Named = Schemas["Named"];
export type Tracked = Schemas["Tracked"];
export type AnswerDraft = Schemas["AnswerDraft"];
export type Forking = Schemas["Forking"];
export type Word = Schemas["Word"];
export type Row = Schemas["RowView"];
export type StepView = Schemas["StepView"];
export type Message = Schemas["MessageView"];

/** Where the program stands: null where nothing debugs this recording, undefined while that is not known. */
export function useStanding(id: string): {
  state: Standing | null | undefined;
  error: Error | null;
  order: (order: string, rest?: string, here?: number) => Promise<boolean>;
  taken: (state: Standing) => void;
} {
  const cache = useQueryClient();
  const key = ["debug", id];
  const asked = useQuery<Standing | null, Error>({
    queryKey: key,
    queryFn: async () => {
      const { recording } = await get<Schemas["Debugged"]>("/debug");
      return recording === id ? get<Standing>(path("debug", id)) : null;
    },
  });
  const state = asked.data;
  const latest = useRef(state);
  latest.current = state;
  const next = useRef<[string, string, number] | null>(null);
  // What is told out of order is older than what is shown.
  const taken = useCallback(
    (told: Standing) =>
      cache.setQueryData<Standing | null>(["debug", id], (known) =>
        known && known.version > told.version ? known : told,
      ),
    [cache, id],
  );
  const order = useCallback(
    async (word: string, rest = "", here = 0): Promise<boolean> => {
      if (latest.current?.phase === "running" && word !== "interrupt") {
        // Typed ahead: it is done when the program stands.
        next.current = [word, rest, here];
        return true;
      }
      try {
        taken(await post<Standing>(path("debug", id, "orders"), { order: word, arguments: rest, here }));
        return true;
      } catch (error) {
        complain(error);
        return false;
      }
    },
    [id, taken],
  );
  const running = state?.phase === "running";
  useEffect(() => {
    const waiting = next.current;
    if (running || !waiting) return;
    next.current = null;
    void order(...waiting);
  }, [running, order]);
  useStream(state ? `${path("debug", id)}/live` : null, {
    state: taken,
    over: () => cache.setQueryData(["debug", id], null),
  });
  return { state, error: asked.error, order, taken };
}

const PAGE = 1000;

/** All steps of a recording, page by page. */
export function useRows(id: string): readonly Row[] {
  const [rows, setRows] = useState<readonly Row[]>([]);
  useEffect(() => {
    let over = false;
    const read = async () => {
      for (let offset = 0, total = 1; offset < total && !over; offset += PAGE) {
        const page = await get<Schemas["RowsView"]>(path("recordings", id, "steps"), { offset, limit: PAGE });
        total = page.total;
        if (!over) setRows((known) => [...known.slice(0, offset), ...page.items]);
      }
    };
    read().catch(complain);
    return () => {
      over = true;
    };
  }, [id]);
  return rows;
}

/** One step whole. */
export function useStep(id: string, step: number) {
  return useQuery({
    queryKey: ["step", id, step],
    queryFn: ({ signal }) => get<StepView>(path("recordings", id, "steps", step), {}, signal),
    enabled: step > 0,
    placeholderData: (before) => before,
  });
}
