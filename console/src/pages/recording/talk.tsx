/** The conversation as a person reads it: what was asked, what was answered, what was done. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { count, duration, money } from "../../format";
import type { Finding, Item } from "../../model";
import { Text, visible } from "../../text";
import { Calls, Odd } from "../../told";
import { Failure } from "../../ui";
import { type Page, useWindowed } from "../../windowed";
import { askTalk, TALK } from "./data";
import type { Shown } from "./index";

export interface ListProps {
  ref: Ref<Shown>;
  id: string;
  total: number;
  here: number | null;
  at: (step: number) => void;
  hits: number[] | null;
  marks: string[];
  findings: Finding[];
}

export function Talk({ ref, id, total, here, at, hits, marks, findings }: ListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, last: 20 });
  const found = useWindowed<Item[], Page<Item[]>>(["talk", id], askTalk(id), seen.first, seen.last, TALK);
  const count_ = Math.max(total, found.total);
  const rows = useVirtualizer({
    count: count_,
    getScrollElement: () => box.current,
    estimateSize: () => 90,
    overscan: 6,
    onChange: ({ range }) => {
      if (!range) return;
      const next = { first: range.startIndex, last: range.endIndex };
      setSeen((before) => (before.first === next.first && before.last === next.last ? before : next));
    },
  });
  const show = (step: number) => rows.scrollToIndex(Math.min(step, count_) - 1, { align: "auto" });
  useImperativeHandle(ref, () => ({ show }));
  const arrived = here !== null && found.at(here - 1) !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, at the step that the address names, and when it is there
  useEffect(() => {
    if (here !== null) rows.scrollToIndex(here - 1, { align: "center" });
  }, [arrived]);
  return (
    <div
      ref={box}
      className="talk"
      tabIndex={0}
      role="feed"
      aria-label="Conversation"
      aria-busy={found.waiting}
    >
      {found.error && <Failure error={found.error} />}
      <div style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((item) => {
          const step = item.index + 1;
          return (
            <article
              key={item.index}
              ref={rows.measureElement}
              data-index={item.index}
              aria-posinset={step}
              aria-setsize={count_}
              aria-label={`Step ${step}`}
              className={`turn ${step === here ? "here" : ""} ${hits?.includes(step) ? "hit" : ""}`}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {found.at(item.index)?.map((one, index) => (
                <Said
                  // biome-ignore lint/suspicious/noArrayIndexKey: the items of a step have no other name
                  key={index}
                  item={one}
                  marks={marks}
                  odd={index === 0 ? findings.filter((finding) => finding.step === step) : []}
                  open={() => at(step)}
                />
              )) ?? <p className="quiet coming">…</p>}
            </article>
          );
        })}
      </div>
    </div>
  );
}

function Said({ item, marks, odd, open }: { item: Item; marks: string[]; odd: Finding[]; open: () => void }) {
  const effect = item.part === "done";
  const who = effect ? item.name || item.kind : item.part === "answer" ? item.model || "model" : item.role;
  const spent = item.tokens ? item.tokens.input + item.tokens.output : 0;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the number is a button, and j and k go from step to step
    // biome-ignore lint/a11y/noStaticElementInteractions: as above
    <div
      className={`said ${item.part} ${item.role} kind-${item.kind}`}
      style={{ paddingLeft: 16 + Math.min(item.depth, 6) * 18 }}
      onClick={(event) => {
        const own = event.target instanceof Element && event.target.closest("button, a, summary, input");
        if (!own && !window.getSelection()?.toString()) open();
      }}
    >
      <div className="who">
        <span className="name clip">{visible(who)}</span>
        {item.part === "asked" && item.role === "tool" && <span className="quiet clip">{item.name}</span>}
        {item.edited && <span className="badge warn">edited</span>}
        {item.status === "in flight" && <span className="badge live">open</span>}
        {item.status === "cancelled" && <span className="badge warn">cancelled</span>}
        <span className="facts quiet">
          {[spent > 0 && `${count(spent)} tok`, item.cost ? money(item.cost) : "", duration(item.duration)]
            .filter(Boolean)
            .join(" · ")}
        </span>
        <button type="button" className="number" onClick={open} aria-label={`Open step ${item.step}`}>
          {item.step}
        </button>
      </div>
      {odd.map((finding) => (
        <Odd key={finding.rule} finding={finding} />
      ))}
      {item.dropped ? (
        <p className="quiet">{item.dropped} earlier messages were left out of the prompt</p>
      ) : null}
      {item.thinking && (
        <details className="thinking">
          <summary>Thinking</summary>
          <Text text={item.thinking} marks={marks} />
        </details>
      )}
      {item.args && <Given args={item.args} />}
      {item.text && <Text text={item.text} marks={marks} more={item.more ?? 0} />}
      {item.calls && item.calls.length > 0 && <Calls calls={item.calls} />}
      {item.error && <p className="problem recorded">{visible(item.error)}</p>}
    </div>
  );
}

/** What a tool was given, in a line. */
function Given({ args }: { args: Record<string, unknown> }) {
  const told = Object.entries(args).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  if (told.length === 0) return null;
  return <p className="given mono">{visible(told.join(", ").slice(0, 400))}</p>;
}
