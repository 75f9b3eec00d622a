/** Fork from a step: with another answer, or asked again; everything after it runs for real. */

import { type FormEvent, useState } from "react";
import { compacted } from "../../json";
import type { StepWhole } from "../../model";
import { useBegin } from "../../parts/jobs";
import { Command, Dialog } from "../../ui";

export function ForkStep({ id, whole, close }: { id: string; whole: StepWhole; close: () => void }) {
  const [asJson, setAsJson] = useState(false);
  const recorded = recordedAnswer(whole, asJson);
  const [text, setText] = useState(recorded.text);
  const [fails, setFails] = useState(recorded.root === "error");
  const [error, setError] = useState(recorded.root === "error" ? recorded.text : "");
  const [allowed, setAllowed] = useState("");
  const { begin, under } = useBegin();
  const wrong = fails ? wrongError(error) : recorded.json ? wrongJson(text) : "";
  const edited = fails
    ? error !== (recorded.root === "error" ? recorded.text : "")
    : text !== recorded.text || recorded.root === "error";
  const setting = fails
    ? `error = ${JSON.stringify(error.trim())}`
    : `${recorded.root === "text" ? "text" : "output"} = ${recorded.json ? compact(text) : JSON.stringify(text)}`;
  const policy = allowed.split("\n").flatMap((line) => (line.trim() ? [`${line.trim()}=live`] : []));
  const fork = (set: string[]) =>
    begin({ kind: "fork", recording: id, options: { at: whole.step, set, policy } });
  return (
    <Dialog title={`Fork at step ${whole.step}`} close={close} className="fork-step">
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!wrong && edited) void fork([setting]);
        }}
      >
        <h2>Fork at step {whole.step}</h2>
        <p className="quiet">
          The program runs again: recorded answers before this step, real calls after it. The result is a new
          recording; this one stays as it is.
        </p>
        {fails ? (
          <label>
            The error that this step raises
            <input
              className="field mono"
              value={error}
              placeholder="TimeoutError: the shop did not answer"
              spellCheck={false}
              aria-invalid={Boolean(error && wrong)}
              onChange={(event) => setError(event.target.value)}
            />
          </label>
        ) : (
          <label>
            The answer of this step{recorded.json ? ", as JSON" : ""}
            <textarea
              className="field mono"
              autoFocus
              rows={Math.min(16, Math.max(4, text.split("\n").length + 1))}
              spellCheck={false}
              value={text}
              aria-invalid={Boolean(wrong)}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
        )}
        <p role="status" className={wrong && edited ? "failure" : ""}>
          {edited ? wrong : ""}
        </p>
        {recorded.root === "text" || asJson ? (
          <label className="check">
            <input
              type="checkbox"
              checked={asJson}
              onChange={(event) => {
                setAsJson(event.target.checked);
                setText(recordedAnswer(whole, event.target.checked).text);
              }}
            />{" "}
            Edit the whole answer as JSON
          </label>
        ) : null}
        <label className="check">
          <input type="checkbox" checked={fails} onChange={(event) => setFails(event.target.checked)} /> Let
          the step fail instead
        </label>
        <details>
          <summary>Calls that may run for real</summary>
          <label>
            Models and reading calls run. Calls that change something are refused, except these, one on each
            line
            <textarea
              className="field mono"
              rows={2}
              placeholder={"refund\napi.example.com"}
              spellCheck={false}
              value={allowed}
              onChange={(event) => setAllowed(event.target.value)}
            />
          </label>
        </details>
        <p className="row">
          <button type="submit" className="button primary" disabled={under || !edited || Boolean(wrong)}>
            {under ? "Starting …" : "Fork with this answer"}
          </button>
          <button type="button" className="button" disabled={under} onClick={() => fork([])}>
            Run this step for real
          </button>
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
        </p>
        <details>
          <summary>In a terminal</summary>
          <Command text={command(id, whole.step, edited && !wrong ? setting : "")} />
        </details>
      </form>
    </Dialog>
  );
}

interface Recorded {
  root: "text" | "output" | "error";
  json: boolean;
  text: string;
}

/** The recorded answer as a text to edit. */
function recordedAnswer(whole: StepWhole, asJson: boolean): Recorded {
  if (whole.error) return { root: "error", json: false, text: whole.error };
  const said = whole.model?.answer;
  if (said && !said.calls?.length && !asJson) return { root: "text", json: false, text: said.text };
  if (typeof whole.output === "string") return { root: "output", json: false, text: whole.output };
  return { root: "output", json: true, text: JSON.stringify(whole.output, null, 2) };
}

function wrongJson(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function wrongError(text: string): string {
  return /^\s*[A-Za-z_][\w.:]*\s*(:|$)/.test(text)
    ? ""
    : "Write a type and a text, as in TimeoutError: too slow";
}

function compact(text: string): string {
  return wrongJson(text) ? text : compacted(text);
}

function command(id: string, step: number, setting: string): string {
  const set = setting ? ` --set '${setting.replaceAll("'", "'\\''")}'` : "";
  return `reenact fork ${id} --at ${step}${set}`;
}
