/** Two recordings aligned: what is the same is folded, and the first difference is marked. */

import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { get } from "../../client";
import { listAt } from "../../filter";
import { count, counted, duration, money, whenExactly } from "../../format";
import { useKeys } from "../../keys";
import type { Diff, Pair, Side } from "../../model";
import { useTitle } from "../../shell";
import { Failed, Reading, Status } from "../../ui";
import { Choose } from "./choose";
import { Differences, PairRow } from "./pair";
import { Videos } from "./videos";
import "./compare.css";

export default function ComparePage() {
  const { a = "", b = "" } = useParams<{ a?: string; b?: string }>();
  return a && b ? <Two key={`${a}/${b}`} a={a} b={b} /> : <Choose />;
}

/** A line of the page: a pair, or equal pairs that are folded. */
type Shown = { pair: Pair; place: number } | { folded: number; from: number };

/** Equal pairs beside one that differs are shown, the others folded. */
const AROUND = 1;

function Two({ a, b }: { a: string; b: string }) {
  const found = useQuery({
    queryKey: ["diff", a, b],
    queryFn: ({ signal }) => get<Diff>("/diff", { a, b }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useTitle(`${a} and ${b}`);
  if (found.error) {
    return <Failed title="These two cannot be compared" error={found.error} />;
  }
  if (!found.data)
    return (
      <Reading title={`${a} and ${b}`}>
        Comparing {a} and {b}…
      </Reading>
    );
  return <Aligned diff={found.data} />;
}

function Aligned({ diff }: { diff: Diff }) {
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const parting = diff.parting?.pair ?? -1;
  const [here, setHere] = useState(Math.max(parting, 0));
  const lines = useMemo(() => folded(diff.pairs, open), [diff, open]);
  const differing = useMemo(
    () => diff.pairs.flatMap((pair, place) => (pair.kind === "same" ? [] : [place])),
    [diff],
  );
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (lines[index] && "folded" in lines[index] ? 32 : 110),
    overscan: 6,
  });
  const [, go] = useLocation();
  const lineOf = (place: number) => lines.findIndex((line) => "pair" in line && line.place === place);
  const leap = (by: 1 | -1) => {
    const next = by > 0 ? differing.find((one) => one > here) : differing.findLast((one) => one < here);
    if (next === undefined) return;
    setHere(next);
    rows.scrollToIndex(lineOf(next), { align: "center" });
  };
  const side = diff.pairs[here];
  useKeys("Compare", {
    n: { does: "Next difference", run: () => leap(1) },
    p: { does: "Previous difference", run: () => leap(-1) },
    j: { does: "Next difference", run: () => leap(1) },
    k: { does: "Previous difference", run: () => leap(-1) },
    a: { does: "Open the step of the first", run: () => side?.a && go(`/r/${diff.a.id}/${side.a.step}`) },
    b: { does: "Open the step of the second", run: () => side?.b && go(`/r/${diff.b.id}/${side.b.step}`) },
    s: { does: "Swap the two", run: () => go(`/compare/${diff.b.id}/${diff.a.id}`) },
    Escape: { does: "Go to the recordings", run: () => go(listAt()) },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, at the parting
  useEffect(() => {
    if (parting > 3) rows.scrollToIndex(lineOf(parting), { align: "center" });
  }, []);
  return (
    <div className="compare">
      <header className="both">
        <h1 className="unseen">
          {diff.a.name || diff.a.id} and {diff.b.name || diff.b.id}
        </h1>
        <SideHead side={diff.a} name="A" />
        <SideHead side={diff.b} name="B" />
        <p className="verdict">
          {diff.same ? (
            `Both runs are the same: ${counted(diff.pairs.length, "step")}`
          ) : diff.parting ? (
            <>First difference: {diff.parting.why}</>
          ) : (
            "They differ in how they ended"
          )}
          <span className="quiet">
            {!diff.same && ` · ${counts(diff)}`}
            {diff.ignored.length > 0 && ` · ignored: ${diff.ignored.join(", ")}`}
          </span>
        </p>
      </header>
      <div ref={box} className="pairs" tabIndex={0} role="region" aria-label="The steps of both">
        <Videos a={diff.a.id} b={diff.b.id} pairs={diff.pairs} parting={parting} />
        <div style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map((item) => {
            const line = lines[item.index];
            return (
              line && (
                <div
                  key={"folded" in line ? `f${line.from}` : line.place}
                  ref={rows.measureElement}
                  data-index={item.index}
                  className="pair-line"
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  {"folded" in line ? (
                    <button
                      type="button"
                      className="fold"
                      onClick={() => setOpen((before) => new Set(before).add(line.from))}
                    >
                      {counted(line.folded, "equal step")}
                    </button>
                  ) : (
                    <PairRow
                      pair={line.pair}
                      a={diff.a.id}
                      b={diff.b.id}
                      here={line.place === here}
                      parting={line.place === parting ? (diff.parting?.why ?? "") : null}
                      point={() => setHere(line.place)}
                    />
                  )}
                </div>
              )
            );
          })}
        </div>
        {diff.ending.length > 0 && (
          <section className="ends">
            <h2>How they ended</h2>
            <Differences differences={diff.ending} />
          </section>
        )}
        {diff.program.length > 0 && (
          <section className="ends">
            <h2>Program</h2>
            <Differences differences={diff.program} />
          </section>
        )}
      </div>
    </div>
  );
}

function SideHead({ side, name }: { side: Side; name: string }) {
  const told = [
    `${side.steps} steps${side.failed_steps ? `, ${side.failed_steps} failed` : ""}`,
    duration(side.duration),
    side.input_tokens !== null &&
      side.output_tokens !== null &&
      `${count(side.input_tokens + side.output_tokens)} tokens`,
    side.cost ? money(side.cost) : "",
    side.models.join(", "),
    whenExactly(side.started),
  ].filter(Boolean);
  return (
    <div className="side">
      <p className="title">
        <span className="letter" aria-hidden>
          {name}
        </span>
        <Link to={`/r/${side.id}`} className="name clip">
          {side.name || side.id}
        </Link>
        <Status of={side.status} />
        {side.name && <code className="quiet">{side.id}</code>}
      </p>
      <p className="quiet clip">{told.join(" · ")}</p>
    </div>
  );
}

function counts(diff: Diff): string {
  const words = {
    same: "same",
    changed: "changed",
    inserted: "only in B",
    deleted: "only in A",
    moved: "moved",
  };
  return (Object.keys(words) as (keyof typeof words)[])
    .filter((kind) => diff.counts[kind] > 0)
    .map((kind) => `${diff.counts[kind]} ${words[kind]}`)
    .join(" · ");
}

function folded(pairs: Pair[], open: ReadonlySet<number>): Shown[] {
  const shown: Shown[] = [];
  let place = 0;
  while (place < pairs.length) {
    let end = place;
    while (end < pairs.length && pairs[end]?.kind === "same") end++;
    const from = place === 0 ? 0 : place + AROUND;
    const to = end === pairs.length ? end : end - AROUND;
    for (; place < end; place++) {
      const pair = pairs[place];
      if (place === from && to - from > 2 && !open.has(from)) {
        shown.push({ folded: to - from, from });
        place = to - 1;
      } else if (pair) {
        shown.push({ pair, place });
      }
    }
    const pair = pairs[place];
    if (pair) shown.push({ pair, place });
    place++;
  }
  return shown;
}
