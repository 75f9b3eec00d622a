/** The steps of a session as a list: the one of the moment is marked, and one that is chosen is gone to. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { clockText } from "./time";
import { type FilmStep, failed } from "./types";

const HIGH = 48;

export function StepList({
  steps,
  current,
  choose,
  label = "Steps",
}: {
  steps: readonly FilmStep[];
  current: FilmStep | null;
  choose: (step: FilmStep) => void;
  label?: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const at = current ? steps.indexOf(current) : -1;
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => place.current,
    estimateSize: () => HIGH,
    overscan: 8,
  });
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: "auto" });
  }, [at, rows]);
  const keys = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((place.current?.clientHeight ?? HIGH) / HIGH) - 1);
    const goal = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: steps.length - 1,
      PageDown: at + page,
      PageUp: at - page,
    }[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    const step = steps[Math.min(Math.max(goal, 0), steps.length - 1)];
    if (step) choose(step);
  };
  return (
    <div
      ref={place}
      className="step-list"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={at >= 0 ? `film-step-${at}` : undefined}
      onKeyDown={keys}
    >
      <div role="presentation" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((row) => {
          const step = steps[row.index];
          if (!step) return null;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
            <div
              key={row.key}
              id={`film-step-${row.index}`}
              role="option"
              aria-selected={row.index === at}
              aria-setsize={steps.length}
              aria-posinset={row.index + 1}
              className={`film-step ${failed(step) ? "bad" : ""} ${step.acts ? "" : "thought"}`}
              style={{ height: HIGH, transform: `translateY(${row.start}px)` }}
              onClick={() => choose(step)}
            >
              <span className="number">{step.n ?? ""}</span>
              <span className="title clip">{step.title}</span>
              <span className="time">{clockText(step.t)}</span>
              <span className="sub clip">
                {step.actor && <b>{step.actor} </b>}
                {subOf(step)}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The second line: why it failed, or where it was. */
function subOf(step: FilmStep): string {
  if (failed(step) || step.kind !== "browser") return step.message || step.model || step.name;
  if (step.status === "in flight") return "not finished";
  return step.url || step.message;
}
