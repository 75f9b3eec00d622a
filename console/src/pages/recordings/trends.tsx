/** Recordings over time: how many, how many failed, what they cost and how long they took. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { get } from "../../client";
import { fetched } from "../../fetched";
import { sought, unfinished } from "../../filter";
import { count, counted, duration, money } from "../../format";
import type { Bucket, Trends } from "../../model";

export const Chart = fetched(() => import("./chart"), <div className="chart" />);

export const MEASURES = {
  runs: {
    name: "Runs",
    about: "all, and failed",
    of: (at: Bucket) => [at.recordings, at.failed],
    write: count,
  },
  failures: {
    name: "Failures",
    about: "share of the runs that failed",
    of: (at: Bucket) => [at.recordings ? (100 * at.failed) / at.recordings : 0],
    write: (share: number) => `${Math.round(share)} %`,
  },
  cost: {
    name: "Cost",
    about: "US dollars",
    // A bar is drawn of what is known, and none where nothing is.
    of: (at: Bucket) => [unknown([at]) ? null : at.cost],
    write: money,
  },
  tokens: { name: "Tokens", about: "in and out", of: (at: Bucket) => [at.tokens], write: count },
  time: {
    name: "Time",
    about: "slowest 5%, and median",
    of: (at: Bucket) => [at.p95, at.p50],
    write: duration,
  },
} as const;

/** True if runs asked models, and no price of any of them is known. */
export function unknown(buckets: readonly Bucket[]): boolean {
  return buckets.some((at) => at.unpriced > 0) && buckets.every((at) => at.cost === 0);
}

/** The cost in words: `$1.20`, `unknown`, `$1.20 and unknown of 3 runs`. */
export function costOf(buckets: readonly Bucket[]): string {
  if (unknown(buckets)) return "unknown";
  const unpriced = buckets.reduce((all, at) => all + at.unpriced, 0);
  const known = money(buckets.reduce((all, at) => all + at.cost, 0));
  return unpriced ? `${known} and unknown of ${counted(unpriced, "run")}` : known;
}

export type Measure = keyof typeof MEASURES;

/** Those that the list has room for. */
const STRIP: Measure[] = ["runs", "cost", "tokens", "time"];

/** Cost, time and outcome of recordings, by day or hour. */
export function useTrends(filter: string) {
  const trends = useQuery({
    queryKey: ["trends", filter],
    queryFn: ({ signal }) => closest(sought(filter), signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => unfinished(state.data),
  });
  const buckets = useMemo(() => recent(trends.data), [trends.data]);
  return { trends, buckets };
}

export function TrendStrip({ filter }: { filter: string }) {
  const [measure, setMeasure] = useState<Measure>("runs");
  const { trends, buckets } = useTrends(filter);
  if (buckets.length < 2) return null;
  const by = trends.data?.by ?? "day";
  const sum = (of: (at: Bucket) => number) => buckets.reduce((all, at) => all + of(at), 0);
  const told = `${counted(
    sum((at) => at.recordings),
    "run",
  )}, ${sum((at) => at.failed)} failed, ${count(
    sum((at) => at.tokens),
  )} tokens, ${unknown(buckets) ? "cost unknown" : costOf(buckets)}, by ${by}${by === "day" ? ` in ${DAYS} days` : ""}`;
  return (
    <figure className="trends">
      <figcaption>
        <div role="group" aria-label="Chart">
          {STRIP.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === measure}
              title={MEASURES[name].about}
              onClick={() => setMeasure(name)}
            >
              {MEASURES[name].name}
            </button>
          ))}
        </div>
        <span className="quiet clip">{told}</span>
      </figcaption>
      <Chart buckets={buckets} measure={measure} by={by} told={told} />
    </figure>
  );
}

/** How far back it goes, from the last run on. */
const DAYS = 60;

function recent(trends: Trends | undefined): Bucket[] {
  const last = Date.parse(trends?.buckets.at(-1)?.at ?? "");
  return trends?.buckets.filter((bucket) => last - Date.parse(bucket.at) < DAYS * 86_400_000) ?? [];
}

/** By day, or by hour where all of it is within two days. */
async function closest(filter: string, signal: AbortSignal): Promise<Trends> {
  const days = await get<Trends>("/recordings/trends", { filter, by: "day" }, signal);
  if (recent(days).length > 2 || days.buckets.length === 0) return days;
  return get<Trends>("/recordings/trends", { filter, by: "hour" }, signal);
}
