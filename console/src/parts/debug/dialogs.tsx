/** What is asked of whoever debugs: another answer, a command, how to go on live. */

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { get, path, post } from "../../client";
import type { Job } from "../../model";
import { complain, say } from "../../toasts";
import { Command, Dialog, Failure } from "../../ui";
import type { AnswerDraft, Forking, Standing, Word } from "./session";

/** Another answer for a step, as JSON or as text; it is checked while it is typed. */
export function EditAnswer({
  id,
  step,
  close,
  taken,
}: {
  id: string;
  step: number;
  close: () => void;
  taken: (state: Standing) => void;
}) {
  const where = path("debug", id, "steps", step, "answer");
  const [giving, setGiving] = useState(false);
  const draft = useQuery({
    queryKey: ["draft", id, step],
    queryFn: () => get<AnswerDraft>(where),
    // A given answer lets the program run, and a running program has no answers to edit.
    enabled: !giving,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const [text, setText] = useState<string | null>(null);
  const [wrong, setWrong] = useState("");
  const shown = text ?? draft.data?.text ?? "";
  useEffect(() => {
    // A given answer lets the program run, and no text can be checked meanwhile.
    if (text === null || giving) return;
    const waiting = window.setTimeout(() => {
      post<{ problem: string | null }>(`${where}/check`, { text }).then(
        ({ problem }) => setWrong(problem ?? ""),
        complain,
      );
    }, 250);
    return () => window.clearTimeout(waiting);
  }, [where, text, giving]);
  const give = async (event?: FormEvent) => {
    event?.preventDefault();
    if (giving) return;
    setGiving(true);
    try {
      taken(await post<Standing>(where, { text: shown }));
      say(`Step ${step}: its answer is edited`);
      close();
    } catch (error) {
      setGiving(false);
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title={`The answer of step ${step}`} close={close} className="asking wide">
      <form onSubmit={give}>
        <h2>The answer of step {step}</h2>
        {draft.error && <Failure error={draft.error} />}
        {draft.data && (
          <>
            <p className="quiet">
              {draft.data.json_text ? "JSON" : "Text"}; <code>{'{"$raise": "TimeoutError: too slow"}'}</code>{" "}
              lets it fail. {draft.data.kept}
            </p>
            <textarea
              className="field mono"
              aria-label="The answer"
              autoFocus
              rows={Math.min(24, Math.max(6, shown.split("\n").length + 1))}
              spellCheck={false}
              value={shown}
              aria-invalid={Boolean(wrong)}
              aria-describedby="answer-wrong"
              onChange={(event) => setText(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void give();
              }}
            />
          </>
        )}
        <p id="answer-wrong" className={wrong ? "failure" : ""} role="status">
          {wrong}
        </p>
        <p className="row">
          <button type="submit" className="button primary" disabled={Boolean(wrong) || giving || !draft.data}>
            Give this answer <kbd>Ctrl Enter</kbd>
          </button>
          <button type="button" className="button" onClick={close}>
            Leave it
          </button>
        </p>
      </form>
    </Dialog>
  );
}

/** A line to type in, by the words of the terminal's line mode, or what to look for. */
export function Prompt({
  label,
  begin,
  hint,
  close,
  done,
}: {
  label: string;
  begin: string;
  hint: string;
  close: () => void;
  done: (text: string) => Promise<boolean>;
}) {
  const [text, setText] = useState(begin);
  return (
    <Dialog title={label} close={close} className="asking">
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (!text.trim() || (await done(text.trim()))) close();
        }}
      >
        <label>
          <b>{label}</b>
          <input
            className="field mono"
            autoFocus
            spellCheck={false}
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <p className="quiet">{hint}</p>
      </form>
    </Dialog>
  );
}

/** Going on live from a step: the command, and the same as a job of this server. */
export function Fork({ id, step, close }: { id: string; step: number; close: () => void }) {
  const [, go] = useLocation();
  const forking = useQuery({
    queryKey: ["forking", id, step],
    queryFn: () => get<Forking>(path("debug", id, "fork"), { step }),
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  const words = forking.data?.words ?? [];
  const start = async () => {
    const set = words.filter((_, at) => words[at - 1] === "--set");
    try {
      const job = await post<Job>("/jobs", { kind: "fork", recording: id, options: { at: step, set } });
      close();
      go(`/jobs/${job.id}`);
    } catch (error) {
      complain(error);
    }
  };
  return (
    <Dialog title={`Fork at step ${step}`} close={close} className="asking wide">
      <h2>Go on live from step {step}</h2>
      <p>
        The recording answers up to there; from there on the world does, with new calls, and a new recording
        is made.
      </p>
      {forking.error && <Failure error={forking.error} />}
      {forking.data && <Command text={forking.data.command} />}
      {forking.data && !forking.data.whole && (
        <p className="quiet">
          The edited answer cannot be said on a command line: the fork asks for it anew.
        </p>
      )}
      <p className="row">
        <button type="button" className="button primary" disabled={!forking.data} onClick={start}>
          Fork here
        </button>
        <button type="button" className="button" onClick={close}>
          Not now
        </button>
      </p>
    </Dialog>
  );
}

/** All words of the line mode. */
export function Words({ close }: { close: () => void }) {
  const words = useQuery({
    queryKey: ["debug-words"],
    queryFn: () => get<Word[]>("/debug/commands"),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog title="Commands" close={close} className="asking wide">
      <h2>Commands, behind “:”</h2>
      <dl className="facts">
        {words.data?.map((word) => (
          <div key={word.name}>
            <dt className="mono">
              {[word.name, ...word.short].join(", ")} {word.argument}
            </dt>
            <dd>{word.help}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
