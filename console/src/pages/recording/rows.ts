/** A list of steps of which only what is in view is drawn and asked for: the conversation, and the table. */

import type { QueryKey } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import type { Finding } from "../../model";
import { type Page, useWindowed } from "../../windowed";
import type { Shown } from "./index";

export interface ListProps {
  ref: Ref<Shown>;
  id: string;
  total: number;
  here: number | null;
  /** Whether new steps are shown when they come. */
  follow: boolean;
  at: (step: number) => void;
  hits: number[] | null;
  marks: string[];
  findings: Finding[];
}

interface Asked<T, P extends Page<T>> {
  key: QueryKey;
  ask: (offset: number, signal: AbortSignal) => Promise<P>;
  /** How many are asked for at once. */
  size: number;
  /** How high a step is, about. */
  height: number;
  overscan: number;
}

/** The steps in view, and what is known of them. */
export function useRows<T, P extends Page<T>>(
  { ref, total, here, follow, findings, hits }: ListProps,
  asked: Asked<T, P>,
) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, last: 20 });
  const found = useWindowed<T, P>(asked.key, asked.ask, seen.first, seen.last, asked.size);
  const many = Math.max(total, found.total);
  const rows = useVirtualizer({
    count: many,
    getScrollElement: () => box.current,
    estimateSize: () => asked.height,
    overscan: asked.overscan,
    onChange: ({ range }) => {
      if (!range) return;
      const next = { first: range.startIndex, last: range.endIndex };
      setSeen((before) => (before.first === next.first && before.last === next.last ? before : next));
    },
  });
  /** The farthest place to which the list was scrolled. */
  const end = useRef(0);
  useEffect(() => {
    const place = box.current;
    const scrolled = () => {
      end.current = Math.max(end.current, place?.scrollTop ?? 0);
    };
    place?.addEventListener("scroll", scrolled);
    return () => place?.removeEventListener("scroll", scrolled);
  }, []);
  useImperativeHandle(ref, () => ({
    show: (step) => rows.scrollToIndex(Math.min(step, many) - 1, { align: "auto" }),
    focus: () => box.current?.focus({ preventScroll: true }),
  }));
  const before = useRef(0);
  useEffect(() => {
    const grown = before.current > 0 && many > before.current;
    before.current = many;
    const place = box.current;
    if (!grown || !follow || !place) return;
    // Who has scrolled up from the end reads there.
    const reached = Math.min(end.current, place.scrollHeight - place.clientHeight);
    if (place.scrollTop > reached - asked.height) rows.scrollToIndex(many - 1, { align: "auto" });
  }, [many, follow, rows, asked.height]);
  const arrived = useRef(false);
  const there = here !== null && found.at(here - 1) !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, at the step that the address names, when it is there
  useEffect(() => {
    if (here === null || arrived.current) return;
    rows.scrollToIndex(here - 1, { align: "center" });
    arrived.current = there;
  }, [there]);
  // By step: a long run has thousands of findings, and a row is drawn often.
  const odd = useMemo(() => {
    const byStep = new Map<number | null, Finding[]>();
    for (const one of findings) byStep.set(one.step, [...(byStep.get(one.step) ?? []), one]);
    return byStep;
  }, [findings]);
  const hit = useMemo(() => new Set(hits), [hits]);
  return { box, rows, found, many, odd, hit };
}
