/** The steps as lines of a table. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useId, useImperativeHandle, useRef, useState } from "react";
import { count, duration } from "../../format";
import type { Row, Rows } from "../../model";
import { visible } from "../../text";
import { Failure } from "../../ui";
import { useWindowed } from "../../windowed";
import { askRows, ROWS } from "./data";
import type { ListProps } from "./talk";

export function Steps({ ref, id, total, here, at, hits, findings }: ListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, last: 40 });
  const found = useWindowed<Row, Rows>(["rows", id], askRows(id), seen.first, seen.last, ROWS);
  const many = Math.max(total, found.total);
  const own = useId();
  const rows = useVirtualizer({
    count: many,
    getScrollElement: () => box.current,
    estimateSize: () => 28,
    overscan: 12,
    onChange: ({ range }) => {
      if (!range) return;
      const next = { first: range.startIndex, last: range.endIndex };
      setSeen((before) => (before.first === next.first && before.last === next.last ? before : next));
    },
  });
  useImperativeHandle(ref, () => ({ show: (step) => rows.scrollToIndex(Math.min(step, many) - 1) }));
  const arrived = here !== null && found.at(here - 1) !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, at the step that the address names, and when it is there
  useEffect(() => {
    if (here !== null) rows.scrollToIndex(here - 1, { align: "center" });
  }, [arrived]);
  return (
    <div
      ref={box}
      className="steps"
      role="grid"
      aria-label="Steps"
      aria-rowcount={many}
      aria-activedescendant={here === null ? undefined : `${own}${here}`}
      tabIndex={0}
    >
      {found.error && <Failure error={found.error} />}
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((item) => {
          const step = item.index + 1;
          const row = found.at(item.index);
          const odd = findings.some((finding) => finding.step === step);
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the page has the keys
            <div
              key={item.index}
              id={`${own}${step}`}
              role="row"
              tabIndex={-1}
              aria-rowindex={step}
              aria-selected={step === here}
              className={`step ${row?.status === "error" ? "bad" : ""} ${hits?.includes(step) ? "hit" : ""}`}
              style={{ transform: `translateY(${item.start}px)` }}
              onClick={() => at(step)}
            >
              {row ? (
                <Cells row={row} odd={odd} />
              ) : (
                <div role="gridcell" className="quiet">
                  {step} …
                </div>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

export function Cells({ row, odd }: { row: Row; odd: boolean }) {
  return (
    <>
      <div role="gridcell" className="number quiet">
        {row.step}
      </div>
      <div role="gridcell" className="what clip" style={{ paddingLeft: Math.min(row.depth, 8) * 14 }}>
        <span className={`kind kind-${row.kind}`}>{row.kind}</span>
        <span className="name">{visible(row.model_name ?? row.name)}</span>{" "}
        <span className="quiet">{visible(row.error ?? row.summary)}</span>
      </div>
      <div role="gridcell" className="signs">
        {odd && (
          <span className="sign warn" title="something is odd here">
            <span aria-hidden>▲</span>
            <span className="unseen">anomaly</span>
          </span>
        )}
        {row.edited && <span className="badge warn">edited</span>}
        {row.status === "error" && <span className="badge bad">error</span>}
        {row.status === "in flight" && <span className="badge live">open</span>}
        {row.status === "cancelled" && <span className="badge warn">cancelled</span>}
        {row.tokens && <span className="quiet">{count(row.tokens.input + row.tokens.output)} tok</span>}
      </div>
      <div role="gridcell" className="number quiet">
        {duration(row.duration)}
      </div>
    </>
  );
}
