/** The steps as lines of a table. */

import { useId } from "react";
import { count, duration } from "../../format";
import type { Row, Rows } from "../../model";
import { Failure } from "../../ui";
import { askRows, ROWS } from "./data";
import { type ListProps, useRows } from "./rows";

export function Steps(props: ListProps) {
  const { id, here, at } = props;
  const own = useId();
  const { box, rows, found, many, odd, hit } = useRows<Row, Rows>(props, {
    key: ["rows", id],
    ask: askRows(id),
    size: ROWS,
    height: 28,
    overscan: 12,
  });
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
      {many === 0 && !found.waiting && <p className="quiet coming">This run has no steps.</p>}
      {found.error && <Failure error={found.error} />}
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((item) => {
          const step = item.index + 1;
          const row = found.at(item.index);
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the page has the keys
            <div
              key={item.index}
              id={`${own}${step}`}
              role="row"
              tabIndex={-1}
              aria-rowindex={step}
              aria-selected={step === here}
              className={`step ${row?.status === "error" ? "bad" : ""} ${hit.has(step) ? "hit" : ""}`}
              style={{ transform: `translateY(${item.start}px)` }}
              onClick={() => at(step)}
            >
              {row ? (
                <Cells row={row} odd={odd.get(step)?.some((finding) => finding.pill) ?? false} />
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
        <span className="name">{row.model_name ?? row.name}</span>{" "}
        <span className="quiet">{row.error ?? row.summary}</span>
      </div>
      <div role="gridcell" className="signs">
        {odd && (
          <span className="sign warn" title="an anomaly was found here">
            <span aria-hidden>▲</span>
            <span className="unseen">anomaly</span>
          </span>
        )}
        {row.edited && <span className="badge warn">edited</span>}
        {row.policy && <span className="badge warn">{row.policy}</span>}
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
