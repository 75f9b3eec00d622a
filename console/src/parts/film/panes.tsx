/** What belongs to the step in hand: what was done, what the model said, network, console, accessibility tree. */

import { Tabs } from "radix-ui";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { counted, duration } from "../../format";
import { Pictures, Status } from "../../ui";
import { PageItself } from "./page";
import { type Clock, clockText, lastAt, useClock } from "./time";
import {
  type Film,
  type FilmLine,
  type FilmRequest,
  type FilmStep,
  failed,
  type Said,
  stretch,
  within,
} from "./types";

export const PANES = ["step", "model", "network", "console", "tree", "page"] as const;
export type Pane = (typeof PANES)[number];

const NAMES: Record<Pane, string> = {
  step: "Step",
  model: "Model",
  network: "Network",
  console: "Console",
  tree: "Tree",
  page: "Page",
};

export function Panes({
  film,
  step,
  clock,
  pane,
  choose,
}: {
  film: Film;
  step: FilmStep | null;
  clock: Clock;
  pane: Pane;
  choose: (pane: Pane) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const before = useRef(pane);
  // On a narrow screen the pane may be below the window: it is brought into sight once it is chosen.
  useEffect(() => {
    if (before.current === pane) return;
    before.current = pane;
    if (window.matchMedia("(max-width: 800px)").matches) box.current?.scrollIntoView({ block: "start" });
  }, [pane]);
  const place = step ? film.steps.indexOf(step) : -1;
  const span = stretch(film.steps, place);
  const network = within(film.network, span);
  const told = within(film.console, span);
  const many: Partial<Record<Pane, [number, boolean]>> = {
    network: [network.length, network.some(isBad)],
    console: [told.length, told.some((line) => line.level === "error")],
  };
  return (
    <Tabs.Root ref={box} className="film-panes" value={pane} onValueChange={(value) => choose(value as Pane)}>
      <Tabs.List className="tabs" aria-label="Details">
        {PANES.filter((each) => each !== "page" || film.moments.length).map((each) => (
          <Tabs.Trigger key={each} value={each} className="tab">
            {NAMES[each]}
            {many[each]?.[0] ? (
              <span className={many[each][1] ? "badge bad" : "badge"}>{many[each][0]}</span>
            ) : null}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <Tabs.Content value="step" className="film-pane" tabIndex={0}>
        {step ? <Step step={step} /> : <p className="quiet">No step up to this moment.</p>}
      </Tabs.Content>
      <Tabs.Content value="model" className="film-pane" tabIndex={0}>
        <Model id={film.recording} steps={film.steps} place={place} />
      </Tabs.Content>
      <Tabs.Content value="network" className="film-pane flat" tabIndex={0}>
        <Log all={film.network} here={network} line={requestLine} more={requestMore} word="request" />
      </Tabs.Content>
      <Tabs.Content value="console" className="film-pane flat" tabIndex={0}>
        <Log all={film.console} here={told} line={consoleLine} more={consoleMore} word="line" />
      </Tabs.Content>
      <Tabs.Content value="tree" className="film-pane" tabIndex={0}>
        <Tree film={film} clock={clock} />
      </Tabs.Content>
      <Tabs.Content value="page" className="film-pane" tabIndex={0}>
        <PageItself film={film} clock={clock} />
      </Tabs.Content>
    </Tabs.Root>
  );
}

function Step({ step }: { step: FilmStep }) {
  const took = step.end === null ? "not finished" : `took ${duration(step.end - step.t)}`;
  return (
    <>
      <h2>
        {step.n ? `${step.n}. ` : ""}
        {step.title}
      </h2>
      <p className="row">
        <Status of={step.status} />
        {step.actor && <span className="badge">{step.actor}</span>}
        {step.edited && <span className="badge warn">edited answer</span>}
        <span className="quiet">
          {clockText(step.t)}, {took}
        </span>
      </p>
      {failed(step) && (
        <div className="failure">
          <p>{step.message}</p>
          <Facts rows={step.why} />
        </div>
      )}
      {!failed(step) && step.message && <p>{step.message}</p>}
      <Facts
        rows={[
          ...given([
            ["page", step.url],
            ["line", step.line],
          ]),
          ...step.fields,
        ]}
      />
      {step.gave && (
        <>
          <h3>Gave</h3>
          <pre>{step.gave}</pre>
        </>
      )}
      {!failed(step) && step.why.length > 0 && (
        <>
          <h3>Inspected</h3>
          <Facts rows={step.why} />
        </>
      )}
      {step.selectors.length > 0 && (
        <>
          <h3>How to find the element again</h3>
          <Facts rows={step.selectors} />
        </>
      )}
    </>
  );
}

function Facts({ rows }: { rows: readonly (readonly [string, string])[] }) {
  if (!rows.length) return null;
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={`${name} ${value}`}>
          <dt>{name}</dt>
          <dd>{value.includes("\n") || value.length > 200 ? <pre>{value}</pre> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Model({ id, steps, place }: { id: string; steps: readonly FilmStep[]; place: number }) {
  const calls = modelCalls(steps, place);
  if (!calls.length) return <p className="quiet">No model call before this step.</p>;
  return calls.map((call) => (
    <section key={call.call}>
      <h2>
        {call.n ? `${call.n}. ` : ""}
        {call.model || call.name}
      </h2>
      <p className="quiet">
        {clockText(call.t)}
        {call.end !== null && `, ${duration(call.end - call.t)}`}
        {call.known ? `, ${counted(call.known, "message")} as before, and:` : ""}
      </p>
      {call.said?.map((said, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a call do not change
        <Message key={at} said={said} id={id} step={call.n} />
      ))}
    </section>
  ));
}

/** The model calls that led to a step: those since the action before it. */
function modelCalls(steps: readonly FilmStep[], place: number): FilmStep[] {
  const step = steps[place];
  if (!step) return [];
  if (step.said) return [step];
  const found: FilmStep[] = [];
  for (let at = place - 1; at >= 0 && !steps[at]?.acts; at--) {
    const before = steps[at];
    if (before?.said) found.unshift(before);
  }
  return found;
}

function Message({ said, id, step }: { said: Said; id: string; step: number | null }) {
  return (
    <div className={said.answer ? "film-said answer" : "film-said"}>
      <b>{said.role}</b>
      {said.thinking && <p className="thinking">{said.thinking}</p>}
      {said.text && <p className="words">{said.text}</p>}
      {step !== null && <Pictures id={id} step={step} places={said.pictures} />}
      {said.calls.map(([name, given]) => (
        <pre key={`${name} ${given}`}>{`${name}(${given})`}</pre>
      ))}
    </div>
  );
}

/** A list beside a step: that step's own items, or all of them; one of them can be opened. */
function Log<T extends { t: number }>({
  all,
  here,
  line,
  more,
  word,
}: {
  all: readonly T[];
  here: readonly T[];
  line: (item: T) => ReactNode;
  more: (item: T) => ReactNode;
  word: string;
}) {
  const [whole, setWhole] = useState(false);
  const items = whole ? all : here;
  return (
    <>
      <p className="row tools">
        <span className="quiet">
          {whole ? `${counted(all.length, word)} in all` : `${counted(here.length, word)} in this step`}
        </span>
        <button type="button" className="button" aria-pressed={whole} onClick={() => setWhole(!whole)}>
          {whole ? "Only this step's" : `All ${all.length}`}
        </button>
      </p>
      <ul className="log">
        {items.slice(0, MOST).map((item, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two requests of one moment may be the same
          <li key={`${item.t} ${at}`}>
            <details>
              <summary>{line(item)}</summary>
              <div className="more">{more(item)}</div>
            </details>
          </li>
        ))}
      </ul>
      {items.length > MOST && (
        <p className="quiet row">and {items.length - MOST} more: choose a step to see its own</p>
      )}
    </>
  );
}

const MOST = 500;

function isBad(request: FilmRequest): boolean {
  return Boolean(request.failed) || (request.status ?? 0) >= 400;
}

function requestLine(item: FilmRequest) {
  return (
    <span className={isBad(item) ? "line bad" : "line"}>
      <span className="time">{clockText(item.t)}</span>
      <span className="mono">{item.status ?? (item.failed ? "✕" : "…")}</span>
      <span>{item.method}</span>
      <span className="mono clip grow">{item.url}</span>
      <span className="quiet">{item.ms === null ? "" : duration(item.ms / 1000)}</span>
    </span>
  );
}

function requestMore(item: FilmRequest) {
  const parts: [string, string][] = [
    ["Request", item.asked],
    ["Sent", item.post],
    ["Response", item.answered],
    ["Body", item.body],
  ];
  return (
    <>
      <p className="mono">
        {item.method} {item.url}
      </p>
      {item.failed && <p className="failure">{item.failed}</p>}
      {parts.map(
        ([title, text]) =>
          text && (
            <section key={title}>
              <h3>{title}</h3>
              <pre>{text}</pre>
            </section>
          ),
      )}
    </>
  );
}

function consoleLine(item: FilmLine) {
  const tone = ["error", "crash"].includes(item.level) ? "bad" : item.level === "warning" ? "odd" : "";
  return (
    <span className={`line ${tone}`}>
      <span className="time">{clockText(item.t)}</span>
      <span>{item.level}</span>
      <span className="mono clip grow">{item.text}</span>
    </span>
  );
}

function consoleMore(item: FilmLine) {
  return (
    <>
      <pre>{item.text}</pre>
      {item.where && <p className="mono quiet">{item.where}</p>}
    </>
  );
}

function Tree({ film, clock }: { film: Film; clock: Clock }) {
  const at = useClock(clock, (one) =>
    Math.max(
      0,
      lastAt(film.reads, one.now, (read) => read[0]),
    ),
  );
  const read = film.reads[at];
  const late = useClock(clock, (one) => read !== undefined && read[0] > one.now);
  if (!read) return <p className="quiet">No accessibility tree was read.</p>;
  return (
    <>
      <p className="quiet">
        {late ? "first read at" : "as read at"} {clockText(read[0])}
      </p>
      <pre>{film.trees[read[1]]}</pre>
    </>
  );
}

function given(rows: [string, string][]): [string, string][] {
  return rows.filter(([, value]) => value);
}
