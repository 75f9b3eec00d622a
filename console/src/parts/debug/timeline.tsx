/** The steps, with the place where the program stands, breakpoints and edited answers. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef } from "react";
import type { Row, Standing } from "./session";

const HIGH = 30;

export function Timeline({
  rows,
  state,
  cursor,
  look,
  until,
  toggle,
}: {
  rows: readonly Row[];
  state: Standing;
  cursor: number;
  look: (step: number) => void;
  until: (step: number) => void;
  toggle: (step: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => HIGH,
    overscan: 12,
  });
  useEffect(() => {
    if (cursor > 0 && cursor <= rows.length) list.scrollToIndex(cursor - 1, { align: "auto" });
  }, [cursor, rows.length, list]);
  const passed = new Set(state.passed);
  const stops = new Set(state.stops);
  const edits = new Set(state.edits);
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((place.current?.clientHeight ?? HIGH) / HIGH) - 1);
    const goal = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      j: cursor + 1,
      k: cursor - 1,
      Home: 1,
      End: rows.length,
      PageDown: cursor + page,
      PageUp: cursor - page,
    }[event.key];
    if (event.key === "Enter") until(cursor);
    else if (goal !== undefined) look(Math.min(Math.max(goal, 1), rows.length));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={place}
      className="debug-steps"
      role="listbox"
      tabIndex={0}
      aria-label="Steps"
      aria-activedescendant={cursor ? `debug-step-${cursor}` : undefined}
      onKeyDown={keys}
    >
      <div role="presentation" style={{ height: list.getTotalSize(), position: "relative" }}>
        {list.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          const here = row.step === state.at.step && state.phase !== "ended";
          const marks = [
            here ? "the program is here" : passed.has(row.step) ? "passed" : "",
            stops.has(row.step) ? "breakpoint" : "",
            edits.has(row.step) ? "edited answer" : "",
          ].filter(Boolean);
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
            <div
              key={item.key}
              id={`debug-step-${row.step}`}
              role="option"
              aria-selected={row.step === cursor}
              aria-setsize={rows.length}
              aria-posinset={item.index + 1}
              className={`debug-step ${here ? "here" : ""} ${passed.has(row.step) ? "passed" : ""} ${row.status === "error" ? "bad" : ""}`}
              style={{ height: HIGH, transform: `translateY(${item.start}px)` }}
              onClick={(event) => {
                look(row.step);
                if (event.target instanceof Element && event.target.closest(".gutter")) toggle(row.step);
              }}
              onDoubleClick={() => until(row.step)}
            >
              <span className="gutter" title="Set or remove a breakpoint here (b)" aria-hidden>
                {stops.has(row.step) && <span className="stop" />}
              </span>
              <span className="arrow" aria-hidden>
                {here ? "▶" : ""}
              </span>
              <span className="number" aria-hidden>
                {row.step}
              </span>
              <span className="clip title" style={{ paddingLeft: Math.min(row.depth, 8) * 12 }}>
                <b className={`kind-${row.kind}`}>{row.name || row.kind}</b> {row.summary}
                {edits.has(row.step) && <span className="badge warn">edited</span>}
              </span>
              {marks.length > 0 && <span className="unseen">{marks.join(", ")}</span>}
            </div>
          );
        })}
      </div>
    </div>
  );
}
