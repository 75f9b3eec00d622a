/** What the panes say of a step: what the model saw, the call, recorded against actual, state, output, frames. */

import { useQuery } from "@tanstack/react-query";
import { Tabs } from "radix-ui";
import { useEffect, useRef } from "react";
import { get, path } from "../../client";
import { counted, duration } from "../../format";
import type { components } from "../../schema";
import { Failure, Status } from "../../ui";
import { ChangedFiles, useFiles } from "../files";
import {
  type Differing,
  type Message,
  type Named,
  type Standing,
  type StepView,
  type Tracked,
  useStep,
} from "./session";

export const TABS = ["messages", "call", "actual", "state", "output", "stack", "files"] as const;
export type Tab = (typeof TABS)[number];

export function Panes({
  state,
  cursor,
  tab,
  choose,
}: {
  state: Standing;
  cursor: number;
  tab: Tab;
  choose: (tab: Tab) => void;
}) {
  const id = state.recording;
  const step = useStep(id, cursor);
  const odd = state.left !== null || state.at.extra > 0;
  return (
    <Tabs.Root className="film-panes" value={tab} onValueChange={(value) => choose(value as Tab)}>
      <Tabs.List className="tabs" aria-label="Details">
        {TABS.map((each) => (
          <Tabs.Trigger key={each} value={each} className={each === "actual" && odd ? "tab odd" : "tab"}>
            {each[0]?.toUpperCase()}
            {each.slice(1)}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <Tabs.Content value={tab} className="film-pane" tabIndex={0}>
        {step.error && <Failure error={step.error} />}
        {tab === "messages" && <Messages id={id} cursor={cursor} />}
        {tab === "call" && step.data && (
          <Call step={step.data} edited={state.edits.includes(cursor)} state={state} />
        )}
        {tab === "actual" && <Actual state={state} />}
        {tab === "state" && <State id={id} cursor={cursor} state={state} />}
        {tab === "output" && <Output id={id} state={state} />}
        {tab === "files" && <StepFiles id={id} cursor={cursor} />}
        {tab === "stack" && <Stack state={state} step={step.data} />}
      </Tabs.Content>
    </Tabs.Root>
  );
}

/** The files that the recorded step changed. */
function StepFiles({ id, cursor }: { id: string; cursor: number }) {
  const files = useFiles(id);
  if (files.error) return <Failure error={files.error} />;
  if (!files.data) return null;
  if (files.data.files.length === 0) return <p className="quiet">The recorded run used no files.</p>;
  return <ChangedFiles id={id} step={cursor} roots={files.data.roots} />;
}

/** What the model saw: of this step, or of the last model call before it. */
function Messages({ id, cursor }: { id: string; cursor: number }) {
  const seen = useQuery({
    queryKey: ["seen", id, cursor],
    queryFn: async ({ signal }) => {
      const where = path("recordings", id, "steps");
      const model = await get<components["schemas"]["StepNumbersView"]>(
        path("recordings", id, "search"),
        { q: "kind:model" },
        signal,
      );
      const step = model.steps.findLast((each) => each <= cursor);
      return step === undefined ? null : get<StepView>(`${where}/${step}`, {}, signal);
    },
    placeholderData: (before) => before,
  });
  if (seen.error) return <Failure error={seen.error} />;
  if (seen.data === undefined) return null;
  const model = seen.data?.model;
  if (!seen.data || !model) return <p className="quiet">No model call up to here.</p>;
  return (
    <>
      {seen.data.step !== cursor && (
        <p className="quiet">as of step {seen.data.step}, the model call before this step</p>
      )}
      <h2>{model.model || "model"}</h2>
      {model.known_messages > 0 && (
        <p className="quiet">{counted(model.known_messages, "message")} known already; new in this call:</p>
      )}
      {model.new_messages.map((message, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a call do not change
        <Said key={at} message={message} />
      ))}
      {model.answer ? (
        <Said message={model.answer} answer />
      ) : (
        <p className="quiet">No answer was recorded.</p>
      )}
      {model.problem && <p className="failure">{model.problem}</p>}
    </>
  );
}

function Said({ message, answer = false }: { message: Message; answer?: boolean }) {
  return (
    <div className={answer ? "film-said answer" : "film-said"}>
      <b>
        {message.role} {message.name}
      </b>
      {message.thinking && <p className="thinking">{message.thinking}</p>}
      {message.text && <p className="words">{message.text}</p>}
      {message.calls?.map((call) => (
        <pre key={`${call.id} ${call.name}`}>{`calls ${call.name}(${spelled(call.args)})`}</pre>
      ))}
    </div>
  );
}

function Call({ step, edited, state }: { step: StepView; edited: boolean; state: Standing }) {
  const id = state.recording;
  const draft = useQuery({
    queryKey: ["draft", id, step.step, edited],
    queryFn: () => get<components["schemas"]["AnswerDraft"]>(path("debug", id, "steps", step.step, "answer")),
    // The server tells it only where the program stands.
    enabled: edited && state.phase !== "running",
    retry: false,
    staleTime: 0,
  });
  const args = Object.entries(step.args);
  return (
    <>
      <h2>
        step {step.step} {step.kind}:{step.name}
      </h2>
      <p className="row">
        <Status of={step.status} />
        {step.duration !== null && <span className="quiet">{duration(step.duration)}</span>}
        <span className="quiet mono clip">{step.address}</span>
      </p>
      <h3>Arguments</h3>
      {args.length === 0 && <p className="quiet">none</p>}
      <Values rows={args.map(([name, value]) => ({ name, text: spelled(value) }))} />
      {edited && draft.data && (
        <>
          <h3 className="odd">Edited answer, in place of the recorded one (x restores it)</h3>
          <pre>{draft.data.text}</pre>
        </>
      )}
      <h3>Recorded answer</h3>
      {step.error ? <p className="failure">{step.error}</p> : <pre>{spelled(step.output)}</pre>}
    </>
  );
}

/** Recorded against actual, where the program stands. */
function Actual({ state }: { state: Standing }) {
  const { left, asked, verdict } = state;
  return (
    <>
      {left && (
        <>
          <h2 className="bad">
            {left.kind} {left.step !== null && `at step ${left.step}`}
          </h2>
          <p className="mono quiet">{left.address}</p>
          {left.detail && <p>{left.detail}</p>}
          {left.hint && <p>{left.hint}</p>}
          <Differences found={left.differing} />
        </>
      )}
      {!left && state.at.extra > 0 && (
        <h2 className="odd">{asked.label || "between questions"}: the recording has no such question</h2>
      )}
      {!left && state.differing.length > 0 && (
        <>
          <h2 className="odd">Differs, and is ignored</h2>
          <Differences found={state.differing} />
        </>
      )}
      {!left && !state.differing.length && state.phase === "stopped" && !state.at.extra && (
        <h2 className="good">As recorded</h2>
      )}
      {state.phase === "reading" && (
        <p className="quiet">No program is running: only the recording is shown.</p>
      )}
      {verdict && (
        <>
          <h2 className={verdict.faithful ? "good" : "bad"}>{verdict.word}</h2>
          {verdict.lines.map((line) => (
            <p key={line}>{line}</p>
          ))}
        </>
      )}
      {asked.label && (
        <>
          <h3>Asked now: {asked.label}</h3>
          <Values rows={asked.args} />
        </>
      )}
    </>
  );
}

export function Differences({ found }: { found: readonly Differing[] }) {
  return found.map((each) => (
    <div key={each.path} className="differing">
      <h3 className="mono">{each.path}</h3>
      <p>
        <span className="quiet">recorded </span>
        <Parts parts={each.recorded} kind="del" />
      </p>
      <p>
        <span className="quiet">actual </span>
        <Parts parts={each.actual} kind="ins" />
      </p>
    </div>
  ));
}

function Parts({ parts, kind: Kind }: { parts: Differing["recorded"]; kind: "del" | "ins" }) {
  return (
    <code>
      {parts.map((part, at) =>
        part.differs ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
          <Kind key={at}>{part.text}</Kind>
        ) : (
          part.text
        ),
      )}
    </code>
  );
}

function State({ id, cursor, state }: { id: string; cursor: number; state: Standing }) {
  const tracked = useQuery({
    queryKey: ["tracked", id, cursor, state.at.step === cursor ? state.version : 0],
    queryFn: () => get<Tracked[]>(path("debug", id, "steps", cursor, "state")),
    enabled: cursor > 0,
    placeholderData: (before) => before,
  });
  if (tracked.error) return <Failure error={tracked.error} />;
  if (!tracked.data?.length) {
    return <p className="quiet">No state is tracked here; reenact.track("memory", memory) declares it.</p>;
  }
  return (
    <>
      {state.changed.length > 0 && state.at.step === cursor && (
        <>
          <h2 className="odd">Changed since the last stop</h2>
          <Differences found={state.changed} />
        </>
      )}
      {tracked.data.map((each) => (
        <section key={each.name}>
          <h3>
            {each.name} <span className="quiet">{each.note}</span>
          </h3>
          <pre>{each.text}</pre>
          {each.otherwise.length > 0 && (
            <>
              <h3 className="bad">Different from the recording</h3>
              <Differences found={each.otherwise} />
            </>
          )}
        </section>
      ))}
    </>
  );
}

function Output({ id, state }: { id: string; state: Standing }) {
  const end = useRef<HTMLDivElement>(null);
  const output = useQuery({
    queryKey: ["output", id, state.written, state.phase],
    queryFn: () => get<components["schemas"]["ProgramOutput"]>(path("debug", id, "output")),
    placeholderData: (before) => before,
  });
  const text = output.data?.text ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new is at the end
  useEffect(() => {
    // Newer browsers give a promise, which an effect must not.
    end.current?.scrollIntoView({ block: "nearest" });
  }, [text]);
  if (output.error) return <Failure error={output.error} />;
  if (!text) return <p className="quiet">Nothing has been written so far.</p>;
  return (
    <>
      <pre className="output">{text}</pre>
      <div ref={end} />
    </>
  );
}

function Stack({ state, step }: { state: Standing; step: StepView | undefined }) {
  return (
    <>
      <h3>The program's own frames, innermost last</h3>
      {state.asked.stack.length === 0 && (
        <p className="quiet">The program is not stopped at a question: there are no frames to show.</p>
      )}
      <ol className="frames mono">
        {state.asked.stack.map((frame) => (
          <li key={frame}>{frame}</li>
        ))}
      </ol>
      {step && (
        <>
          <h3>Step {step.step} is inside of</h3>
          <p>{step.within === null ? <span className="quiet">no other step</span> : `step ${step.within}`}</p>
          <p className="mono quiet">scope {step.scope}</p>
        </>
      )}
    </>
  );
}

function Values({ rows }: { rows: readonly Named[] }) {
  return (
    <dl className="facts">
      {rows.map(({ name, text }) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd>{text.includes("\n") || text.length > 160 ? <pre>{text}</pre> : <code>{text}</code>}</dd>
        </div>
      ))}
    </dl>
  );
}

const MOST = 20_000;

/** A recorded value for reading: a short one on one line, else indented; a very long one cut. */
function spelled(value: unknown): string {
  const short = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const text = typeof value === "string" || short.length <= 100 ? short : JSON.stringify(value, null, 2);
  return text.length > MOST ? `${text.slice(0, MOST)}\n… ${text.length - MOST} letters left out` : text;
}
