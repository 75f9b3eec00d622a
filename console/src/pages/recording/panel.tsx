/** A step in full. */

import { Tabs } from "radix-ui";
import { useEffect, useRef, useState } from "react";
import { API, path } from "../../client";
import { count, duration, money } from "../../format";
import { parse } from "../../json";
import type { Finding, StepWhole } from "../../model";
import { ChangedFiles, useFiles } from "../../parts/files";
import { copy } from "../../toasts";
import { Odd } from "../../told";
import { Value } from "../../tree";
import { Failure } from "../../ui";
import { useStep } from "./data";
import { ForkStep } from "./fork";
import { Prompt } from "./prompt";
import { State } from "./state";
import { Cells } from "./steps";

export function StepPanel({
  id,
  step,
  total,
  marks,
  findings,
  at,
  move,
  tab,
  setTab,
}: {
  id: string;
  step: number;
  total: number;
  marks: string[];
  findings: Finding[];
  at: (step: number | null) => void;
  move: (by: number) => void;
  tab: string;
  setTab: (tab: string) => void;
}) {
  const found = useStep(id, step, total);
  const files = useFiles(id).data;
  const known = ["state", "raw", ...(files?.files.length ? ["files"] : [])];
  const shown = known.includes(tab) ? tab : "step";
  const [forking, setForking] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another step begins at its top
  useEffect(() => {
    // It gives a promise in newer browsers, which an effect must not.
    void box.current?.scrollTo({ top: 0 });
  }, [step, shown]);
  const whole = found.data;
  return (
    <section className="panel-step" aria-label={`Step ${step}`}>
      <Tabs.Root value={shown} onValueChange={setTab} className="tabs">
        <header className="panel-head">
          <button type="button" className="button bare back" onClick={() => at(null)}>
            ← All
          </button>
          <h2 className="clip">
            <span className="quiet">{step}</span> {whole ? (whole.model_name ?? whole.name) : ""}
          </h2>
          <Tabs.List aria-label="About this step">
            <Tabs.Trigger value="step">Step</Tabs.Trigger>
            <Tabs.Trigger value="state">
              State{whole?.state_changes.length ? ` · ${whole.state_changes.length}` : ""}
            </Tabs.Trigger>
            {known.includes("files") && <Tabs.Trigger value="files">Files</Tabs.Trigger>}
            <Tabs.Trigger value="raw">Raw</Tabs.Trigger>
          </Tabs.List>
          <button
            type="button"
            className="button"
            disabled={!whole || found.isPlaceholderData}
            onClick={() => setForking(true)}
          >
            Edit and fork
          </button>
          <span className="turns">
            <button
              type="button"
              className="button bare"
              aria-label="Previous step"
              disabled={step <= 1}
              onClick={() => move(-1)}
            >
              ↑
            </button>
            <button
              type="button"
              className="button bare"
              aria-label="Next step"
              disabled={step >= total}
              onClick={() => move(1)}
            >
              ↓
            </button>
            <button
              type="button"
              className="button bare close"
              aria-label="Close the step"
              onClick={() => at(null)}
            >
              ×
            </button>
          </span>
        </header>
        <div ref={box} className={found.isPlaceholderData ? "panel-body stale" : "panel-body"}>
          {found.error && <Failure error={found.error} />}
          {found.isPending && <p className="quiet">Reading step {step}…</p>}
          <Tabs.Content value="step">
            {whole && (
              <Inside
                id={id}
                whole={whole}
                marks={marks}
                findings={findings.filter((one) => one.step === whole.step)}
                at={at}
              />
            )}
          </Tabs.Content>
          <Tabs.Content value="state">{whole && <State whole={whole} />}</Tabs.Content>
          {known.includes("files") && (
            <Tabs.Content value="files">
              {whole && files && <ChangedFiles id={id} step={whole.step} roots={files.roots} />}
            </Tabs.Content>
          )}
          <Tabs.Content value="raw">{whole && <Raw whole={whole} />}</Tabs.Content>
        </div>
      </Tabs.Root>
      {forking && whole && <ForkStep id={id} whole={whole} close={() => setForking(false)} />}
    </section>
  );
}

/** Kinds of steps whose outcome the server tells in a sentence. */
const TOLD = new Set(["browser", "heal", "agent"]);

function Inside({
  id,
  whole,
  marks,
  findings,
  at,
}: {
  id: string;
  whole: StepWhole;
  marks: string[];
  findings: Finding[];
  at: (step: number) => void;
}) {
  const settings = Object.fromEntries(
    Object.entries(whole.args).filter(([name]) => !(whole.model && SENT.has(name))),
  );
  // Steps of a browser session are told in a sentence.
  const acted = TOLD.has(whole.kind);
  return (
    <>
      <p className="told quiet">
        {[
          whole.kind,
          whole.status,
          duration(whole.duration),
          whole.model?.tokens &&
            `${count(whole.model.tokens.input)} tokens in, ${count(whole.model.tokens.output)} out`,
          whole.model?.tokens?.cached ? `${count(whole.model.tokens.cached)} from the cache` : "",
          whole.cost ? money(whole.cost) : "",
          whole.chunks ? `${whole.chunks} chunks` : "",
          whole.within && `within step ${whole.within}`,
        ]
          .filter(Boolean)
          .join(" · ")}
        {whole.edited && " "}
        {whole.edited && <span className="badge warn">edited by a fork</span>}
        {whole.policy && <span className="badge warn">{whole.policy} answer, by the fork's policy</span>}
      </p>
      {findings.map((finding) => (
        <Odd key={finding.rule} finding={finding} />
      ))}
      {whole.error && (
        <Part title="Error">
          <p className="failure recorded">{whole.error}</p>
        </Part>
      )}
      {whole.model && <Prompt id={id} whole={whole} model={whole.model} marks={marks} />}
      {whole.pictures.length > 0 && (
        <Part title={`Pictures: ${whole.pictures.length}`}>
          <div className="pictures">
            {whole.pictures.map((picture, place) => (
              <figure key={picture.path}>
                <img
                  src={`${API}${path("recordings", id, "steps", whole.step, "pictures", place)}`}
                  alt={`${picture.asked ? "In the question" : "In the answer"}: ${picture.kind}`}
                  loading="lazy"
                />
                <figcaption className="quiet clip">{picture.path}</figcaption>
              </figure>
            ))}
          </div>
        </Part>
      )}
      {Object.keys(settings).length > 0 && (
        <Part title={whole.model ? "Settings" : "Arguments"} folded={whole.model !== null}>
          <Value value={settings} marks={marks} />
        </Part>
      )}
      {!whole.model?.answer && whole.output !== null && whole.output !== undefined && (
        <>
          {acted && !whole.error && (
            <Part title="Outcome">
              <p className="recorded">{whole.summary}</p>
            </Part>
          )}
          <Part title={acted ? "Outcome as data" : "Outcome"} folded={acted}>
            <Value value={whole.output} marks={marks} />
          </Part>
        </>
      )}
      {whole.nested.length > 0 && (
        <Part title={`Inside of it: ${whole.nested.length}`}>
          <div role="grid" aria-label="Nested steps" className="nested">
            {whole.nested.map((row) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys j and k lead there too
              <div key={row.step} role="row" tabIndex={-1} className="step" onClick={() => at(row.step)}>
                <Cells row={{ ...row, depth: row.depth - whole.depth - 1 }} odd={false} />
              </div>
            ))}
          </div>
        </Part>
      )}
    </>
  );
}

/** What a model call was sent is shown as messages. */
const SENT = new Set(["messages", "body", "input", "contents", "prompt"]);

export function Part({
  title,
  children,
  folded = false,
}: {
  title: string;
  children: React.ReactNode;
  folded?: boolean;
}) {
  return (
    <details className="part" open={!folded}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function Raw({ whole }: { whole: StepWhole }) {
  return (
    <>
      <p className="quiet mono recorded">{whole.address}</p>
      {whole.events.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a step have no other name
        <div key={index} className="raw">
          <button type="button" className="button bare" onClick={() => copy(line)}>
            Copy the line
          </button>
          <Value value={parsed(line)} />
        </div>
      ))}
    </>
  );
}

function parsed(line: string): unknown {
  try {
    return parse(line);
  } catch {
    return line;
  }
}
