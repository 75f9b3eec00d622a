/** All recordings: searched, counted, and moving while they are written. */

import { useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { get } from "../../client";
import { listAt, sought, unfinished } from "../../filter";
import { count } from "../../format";
import { useKeys } from "../../keys";
import type { Line, Recordings } from "../../model";
import { useTitle } from "../../shell";
import { say } from "../../toasts";
import { Failure, Nothing } from "../../ui";
import { useWindowed } from "../../windowed";
import { useAsked } from "./asked";
import { FacetList } from "./facets";
import { useFresh } from "./fresh";
import { Headings, SortChoice } from "./headings";
import { RecordingRow } from "./row";
import { Search } from "./search";
import { TrendStrip } from "./trends";
import { Views } from "./views";
import "./recordings.css";

const SIZE = 100;
/** How the server says where a filter cannot be read. */
const COLUMN = /column \d/;

/** Where the list was left: who comes back to it goes on there. */
let left = { address: "", top: 0, place: 0 };

export default function RecordingsPage() {
  const asked = useAsked();
  const { chosen } = asked;
  const [wrong, setWrong] = useState<{ filter: string; error: Error } | null>(null);
  const good = useRef("");
  // While a filter cannot be read, as when it is half typed, what was there before stays.
  const filter = wrong?.filter === asked.filter ? good.current : asked.filter;
  const [, go] = useLocation();
  const cache = useQueryClient();
  const list = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [window_, setWindow] = useState({ first: 0, last: SIZE - 1 });
  const address = listAt();
  const back = useRef(left.address === address ? left : null);
  const [cursor, point] = useState(back.current?.place ?? 0);
  // Keys may come faster than the list is drawn: each goes on from where the one before it led.
  const place = useRef(cursor);
  /** The recording that one has gone to: the cursor stays on it while others come and go. */
  const held = useRef<string | undefined>(undefined);
  const [facets, setFacets] = useState(false);
  const id = useId();
  const found = useWindowed<Line, Recordings>(
    ["recordings", filter, asked.sort],
    (offset, signal) =>
      get<Recordings>(
        "/recordings",
        { filter: sought(filter), offset, limit: SIZE, sort: asked.sort },
        signal,
      ),
    window_.first,
    window_.last,
    SIZE,
    unfinished,
  );
  const { total } = found;
  useEffect(() => {
    if (found.error && COLUMN.test(found.error.message)) setWrong({ filter, error: found.error });
    else if (found.page && !found.stale) good.current = filter;
  }, [found.error, found.page, found.stale, filter]);
  const rows = useVirtualizer({
    count: total,
    getScrollElement: () => list.current,
    estimateSize: () => (narrow.matches ? 88 : 52),
    overscan: 8,
    onChange: (virtual) => {
      left = { address, top: virtual.scrollOffset ?? 0, place: place.current };
      const range = virtual.range;
      if (!range) return;
      const next = { first: range.startIndex, last: range.endIndex };
      setWindow((before) => (same(before, next) ? before : next));
    },
  });
  useTitle("");
  useFresh(cache, filter);
  useNarrow(() => rows.measure());
  useLayoutEffect(() => {
    if (total === 0 || !back.current) return;
    list.current?.scrollTo({ top: back.current.top });
    back.current = null;
  }, [total]);
  const question = useRef(`${asked.sort} ${filter}`);
  useEffect(() => {
    if (question.current === `${asked.sort} ${filter}`) return;
    // Another question begins at the top.
    question.current = `${asked.sort} ${filter}`;
    held.current = undefined;
    place.current = 0;
    point(0);
    list.current?.scrollTo({ top: 0 });
  }, [filter, asked.sort]);
  const setCursor = (to: number) => {
    held.current = found.at(to)?.id;
    place.current = to;
    point(to);
    left = { ...left, place: to };
  };
  useLayoutEffect(() => {
    const before = place.current;
    if (held.current === undefined || found.stale || found.at(before)?.id === held.current) return;
    const near = Array.from({ length: 2 * SIZE }, (_, index) => before - SIZE + index);
    const now = near.find((at) => at >= 0 && found.at(at)?.id === held.current);
    if (now === undefined) return;
    place.current = now;
    point(now);
    const box = list.current;
    if (box && box.scrollTop > 0) box.scrollTop += (now - before) * rows.options.estimateSize(0);
  }, [found.at, found.stale, rows]);
  const move = (by: number) => {
    const next = Math.max(0, Math.min(place.current + by, total - 1));
    setCursor(next);
    rows.scrollToIndex(next);
    list.current?.focus({ preventScroll: true });
  };
  const open = (line: Line | undefined) => {
    if (!line) return;
    const hit = line.found_in[0];
    go(`/r/${line.id}${hit && filter ? `/${hit}?q=${encodeURIComponent(filter)}` : ""}`);
  };
  const compare = () => {
    if (chosen.length === 2) go(`/compare/${chosen.join("/")}`);
    else say("Choose two recordings with x, then compare them with c");
  };
  useKeys("Recordings", {
    j: { does: "Next", run: () => move(1) },
    k: { does: "Previous", run: () => move(-1) },
    ArrowDown: { does: "Next", run: () => move(1) },
    ArrowUp: { does: "Previous", run: () => move(-1) },
    PageDown: { does: "Next page", run: () => move(15) },
    PageUp: { does: "Previous page", run: () => move(-15) },
    Home: { does: "The first", run: () => move(-total) },
    End: { does: "The last", run: () => move(total) },
    Enter: { does: "Open", run: () => open(found.at(place.current)) },
    "/": { does: "Search", run: () => field.current?.select() },
    x: {
      does: "Choose, to compare",
      run: () => {
        const line = found.at(place.current);
        if (line) asked.choose(line.id);
      },
    },
    c: { does: "Compare the two that are chosen", run: compare },
    Escape: { does: "Choose none", run: () => chosen.length && asked.clear() },
  });

  return (
    <div className="recordings">
      <h1 className="unseen">Recordings</h1>
      <div className="finding">
        <Search
          field={field}
          value={asked.filter}
          change={asked.ask}
          error={wrong?.filter === asked.filter ? wrong.error : null}
          done={() => list.current?.focus({ preventScroll: true })}
        />
        <button
          type="button"
          className="button facets-open"
          aria-expanded={facets}
          aria-controls={`${id}facets`}
          onClick={() => setFacets(!facets)}
        >
          Narrow down
        </button>
        <SortChoice sort={asked.sort} sortBy={asked.sortBy} />
        <p className="quiet total" role="status" aria-live="polite">
          {found.waiting ? "" : totals(total, found.page)}
        </p>
        {chosen.length > 0 && (
          <button type="button" className="button primary" onClick={compare} disabled={chosen.length !== 2}>
            Compare {chosen.length} of 2
          </button>
        )}
      </div>
      <aside id={`${id}facets`} className={facets ? "facets open" : "facets"} aria-label="Narrow down">
        <Views asked={asked} />
        <FacetList filter={filter} change={asked.narrow} />
      </aside>
      <div className="middle">
        <TrendStrip filter={filter} />
        {found.error && !found.page && !COLUMN.test(found.error.message) && <Failure error={found.error} />}
        {total === 0 && found.page?.complete && !found.stale ? (
          <Empty filter={filter} indexing={found.page.indexing} />
        ) : (
          <div
            ref={list}
            className={found.stale ? "list stale" : "list"}
            role="grid"
            aria-label="Recordings"
            aria-rowcount={total + 1}
            aria-multiselectable="true"
            aria-activedescendant={total ? `${id}${cursor}` : undefined}
            tabIndex={0}
          >
            <Headings sort={asked.sort} sortBy={asked.sortBy} />
            <div role="rowgroup" className="lines" style={{ height: rows.getTotalSize() }}>
              {rows.getVirtualItems().map((item) => (
                <RecordingRow
                  key={item.index}
                  id={`${id}${item.index}`}
                  place={item.index}
                  top={item.start}
                  height={item.size}
                  line={found.at(item.index)}
                  here={item.index === cursor}
                  chosen={chosen}
                  choose={asked.choose}
                  narrow={asked.add}
                  point={() => setCursor(item.index)}
                  open={open}
                />
              ))}
            </div>
          </div>
        )}
      </div>
    </div>
  );
}

const narrow = window.matchMedia("(max-width: 1000px)");

function useNarrow(turned: () => void): void {
  const latest = useRef(turned);
  latest.current = turned;
  useEffect(() => {
    const listener = () => latest.current();
    narrow.addEventListener("change", listener);
    return () => narrow.removeEventListener("change", listener);
  }, []);
}

function same(a: { first: number; last: number }, b: { first: number; last: number }): boolean {
  return (
    Math.floor(a.first / SIZE) === Math.floor(b.first / SIZE) &&
    Math.floor(a.last / SIZE) === Math.floor(b.last / SIZE)
  );
}

function totals(total: number, page: Recordings | undefined): string {
  const indexing = page?.indexing;
  if (indexing?.total) return `${count(total)}, ${count(indexing.done)} of ${count(indexing.total)} read`;
  return `${total.toLocaleString("en")}${page && !page.complete ? "+" : ""} ${total === 1 ? "recording" : "recordings"}`;
}

function Empty({ filter, indexing }: { filter: string; indexing: Recordings["indexing"] }) {
  if (indexing.total) return <Nothing title={`Reading ${count(indexing.total)} recordings…`} heading="h2" />;
  if (filter) {
    return (
      <Nothing title="No recordings match" heading="h2">
        <p>
          A word is a kind of step (<code>tool</code>, <code>model</code>, <code>error</code>); a text stands
          in quotes: <code>"refund"</code>. An id stands alone, and its beginning so: <code>id:sm3y*</code>.
        </p>
      </Nothing>
    );
  }
  return (
    <Nothing title="No recordings yet" heading="h2">
      <p>Start your agent by this command. The run shows here while it goes on.</p>
      <p>
        <code>reenact record -- python agent.py</code>
      </p>
    </Nothing>
  );
}
