/** The conversation as a person reads it: what was asked, what was answered, what was done. */

import { count, counted, duration, money } from "../../format";
import type { Finding, Item } from "../../model";
import { Text } from "../../text";
import { Calls, Odd } from "../../told";
import { Failure, Pictures } from "../../ui";
import type { Page } from "../../windowed";
import { askTalk, TALK } from "./data";
import { type ListProps, useRows } from "./rows";

export function Talk(props: ListProps) {
  const { id, here, at, marks } = props;
  const { box, rows, found, many, odd, hit } = useRows<Item[], Page<Item[]>>(props, {
    key: ["talk", id],
    ask: askTalk(id),
    size: TALK,
    height: 90,
    overscan: 6,
  });
  return (
    <div
      ref={box}
      className="talk"
      tabIndex={0}
      role="feed"
      aria-label="Conversation"
      aria-busy={found.waiting}
    >
      {many === 0 && !found.waiting && <p className="quiet coming">This run has no steps.</p>}
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
              aria-setsize={many}
              aria-label={`Step ${step}`}
              className={`turn ${step === here ? "here" : ""} ${hit.has(step) ? "hit" : ""}`}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {found.at(item.index)?.map((one, index, all) => (
                <Said
                  // biome-ignore lint/suspicious/noArrayIndexKey: the items of a step have no other name
                  key={index}
                  id={id}
                  item={one}
                  marks={marks}
                  odd={index === noted(all) ? (odd.get(step) ?? []) : []}
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

/** The item of a step that its notes are about: the model's answer with its calls, not the result of an earlier call. */
function noted(items: Item[]): number {
  return Math.max(
    items.findIndex((item) => item.part === "answer"),
    0,
  );
}

function Said({
  id,
  item,
  marks,
  odd,
  open,
}: {
  id: string;
  item: Item;
  marks: string[];
  odd: Finding[];
  open: () => void;
}) {
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
        <span className="name clip">{who}</span>
        {item.part === "asked" && item.role === "tool" && <span className="quiet clip">{item.name}</span>}
        {item.edited && <span className="badge warn">edited</span>}
        {item.policy && <span className="badge warn">{item.policy}</span>}
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
      {item.dropped ? (
        <p className="quiet">{counted(item.dropped, "earlier message")} left out of the prompt</p>
      ) : null}
      {item.thinking && (
        <details className="thinking">
          <summary>Thinking</summary>
          <Text text={item.thinking} marks={marks} />
        </details>
      )}
      {item.args && <Given args={item.args} />}
      {item.text && <Text text={item.text} marks={marks} more={item.more ?? 0} />}
      <Pictures id={id} step={item.step} places={item.pictures ?? []} />
      {item.calls && item.calls.length > 0 && <Calls calls={item.calls} />}
      {odd.map((finding) => (
        <Odd key={finding.rule} finding={finding} />
      ))}
      {item.error && <p className="problem recorded">{item.error}</p>}
    </div>
  );
}

/** What a tool was given, in a line. */
function Given({ args }: { args: Record<string, unknown> }) {
  const told = Object.entries(args).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  if (told.length === 0) return null;
  return <p className="given mono">{told.join(", ").slice(0, 400)}</p>;
}
