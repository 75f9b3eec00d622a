/** The debugger: the machine of the terminal, steered from here by the same words and nearly the same keys. */

import { type FormEvent, useCallback, useEffect, useState } from "react";
import { Link, useParams } from "wouter";
import { get, path, post, remove } from "../client";
import { counted, titled } from "../format";
import { useKeys } from "../keys";
import { EditAnswer, Fork, Prompt, Words } from "../parts/debug/dialogs";
import { Panes, TABS, type Tab } from "../parts/debug/panes";
import { type Standing, useRows, useStanding } from "../parts/debug/session";
import { Timeline } from "../parts/debug/timeline";
import type { components } from "../schema";
import { useTitle } from "../shell";
import { complain, say } from "../toasts";
import { Command, Failed, Failure, Reading } from "../ui";
import { useWhole } from "./recording/data";
import "../parts/film/film.css";
import "../parts/debug/debug.css";

type Asking = "edit" | "raise" | "break" | "command" | "find" | "fork" | "words" | null;

const PANE_OF: Record<string, Tab> = {
  print: "call",
  messages: "messages",
  state: "state",
  output: "output",
  where: "stack",
  verdict: "actual",
};

export default function Debug() {
  const { id = "" } = useParams();
  useTitle(`Debug ${id}`);
  const { state, error, order, taken } = useStanding(id);
  if (error) return <Failed title={`Debug ${id}`} error={error} />;
  if (state === undefined) return <Reading title={`Debug ${id}`} />;
  if (state === null) return <Begin id={id} taken={taken} />;
  return <Bench key={id} state={state} order={order} taken={taken} />;
}

/** Nothing debugs this recording yet: how it is to be begun. */
function Begin({ id, taken }: { id: string; taken: (state: Standing) => void }) {
  const [points, setPoints] = useState("");
  const [wrong, setWrong] = useState<unknown>(null);
  const [under, setUnder] = useState(false);
  const begin = async (event: FormEvent) => {
    event.preventDefault();
    setUnder(true);
    try {
      const breakpoints = points
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean);
      taken(await post<Standing>(path("debug", id), { breakpoints }));
    } catch (error) {
      setWrong(error);
    } finally {
      setUnder(false);
    }
  };
  const line = useWhole(id).data;
  return (
    <form className="page debug-begin" onSubmit={begin}>
      <h1>
        Debug <Link to={`/r/${id}`}>{line ? titled(line) : id}</Link>
      </h1>
      <p>
        The program runs again with the recorded answers: it sends nothing and costs nothing. It stops before
        its first step, and at your breakpoints.
      </p>
      <label>
        <span>
          Breakpoints, one on each line: a step's number, a kind and name, <code>error</code> or{" "}
          <code>divergence</code>
        </span>
        <textarea
          className="field mono"
          rows={4}
          placeholder={"7\ntool:cancel_order\nerror\ndivergence"}
          value={points}
          onChange={(event) => setPoints(event.target.value)}
        />
      </label>
      {wrong !== null && <Failure error={wrong} />}
      <p className="row">
        <button type="submit" className="button primary" disabled={under}>
          {under ? "Starting …" : "Start"}
        </button>
        <span className="quiet">or in a terminal:</span> <Command text={`reenact debug ${id}`} />
      </p>
    </form>
  );
}

function Bench({
  state,
  order,
  taken,
}: {
  state: Standing;
  order: ReturnType<typeof useStanding>["order"];
  taken: (state: Standing) => void;
}) {
  const id = state.recording;
  const rows = useRows(id);
  const [cursor, setCursor] = useState(Math.max(state.at.step, 1));
  const [tab, setTab] = useState<Tab>("call");
  const [asking, setAsking] = useState<Asking>(null);
  const [meant, setMeant] = useState("");
  const { find, look } = useFinding(id, setCursor);
  useFollowing(state, setCursor, setTab);

  const toggle = (step: number) => {
    const there = state.breakpoints.some((point) => point.text === String(step));
    void order(there ? "clear" : "break", String(step));
  };
  const undo = async () => {
    if (await order("undo", "", cursor)) say(`Step ${cursor}: its recorded answer again`);
  };
  const command = async (line: string): Promise<boolean> => {
    const [word = "", ...rest] = line.split(/\s+/);
    const known = await wordOf(word);
    if (known === "list") return look(rest.join(" ") || String(cursor));
    if (known === "fork") {
      if (rest[0]) setCursor(Number(rest[0]));
      setAsking("fork");
      return false;
    }
    if (known === "help") {
      setAsking("words");
      return false;
    }
    if (known === "quit") {
      await remove(path("debug", id)).catch(complain);
      return true;
    }
    const pane = PANE_OF[known];
    if (pane) {
      setTab(pane);
      return true;
    }
    return order(word, line.slice(word.length).trim(), cursor);
  };
  const ask = (what: Asking, begin = "") => {
    setMeant(begin);
    setAsking(what);
  };
  const step = (by: number) => setCursor((at) => Math.min(Math.max(at + by, 1), state.steps));

  useKeys("Debugger", {
    s: { does: "Step to the next question", run: () => order("step") },
    n: { does: "Step over: the next question outside of this one", run: () => order("over") },
    F10: { does: "Over", run: () => order("over") },
    i: { does: "Step into this call: run it for real", run: () => order(state.inside ? "into" : "step") },
    o: { does: "Step out of the enclosing call", run: () => order("out") },
    c: { does: "Continue to the next breakpoint, divergence or the end", run: () => order("continue") },
    F8: { does: "Continue", run: () => order("continue") },
    u: { does: "Run to the selected step", run: () => order("until", String(cursor)) },
    Enter: { does: "Run to the selected step", run: () => order("until", String(cursor)) },
    p: { does: "Step back to the previous question", run: () => order("back") },
    Backspace: { does: "Back", run: () => order("back") },
    r: { does: "Reverse to the previous breakpoint", run: () => order("reverse") },
    R: { does: "Run the program again", run: () => order("restart") },
    ".": { does: "Interrupt the program", run: () => order("interrupt") },
    b: { does: "Set or remove a breakpoint at the selected step", run: () => toggle(cursor) },
    F9: { does: "Set or remove a breakpoint", run: () => toggle(cursor) },
    B: { does: "Set a breakpoint by a filter", run: () => ask("break") },
    e: { does: "Edit the answer of the selected step", run: () => ask("edit") },
    E: { does: "Replace the answer with an error", run: () => ask("raise") },
    x: { does: "Restore the recorded answer", run: undo },
    f: { does: "Fork: continue live from the selected step", run: () => ask("fork") },
    j: { does: "Select the next step", run: () => step(1) },
    k: { does: "Select the previous step", run: () => step(-1) },
    ArrowDown: { does: "Select the next step", run: () => step(1) },
    ArrowUp: { does: "Select the previous step", run: () => step(-1) },
    g: { does: "Select the step where the program is", run: () => setCursor(Math.max(state.at.step, 1)) },
    "/": { does: "Find a step by its number or a filter", run: () => ask("find") },
    "]": { does: "Next match", run: () => find(1, cursor) },
    "[": { does: "Previous match", run: () => find(-1, cursor) },
    ":": { does: "Type a debugger command", run: () => ask("command") },
    ...Object.fromEntries(
      TABS.map((each, at) => [String(at + 1), { does: `Show ${each}`, run: () => setTab(each) }]),
    ),
  });

  return (
    <div className="debug">
      <Head state={state} />
      <Bar state={state} order={order} ask={ask} cursor={cursor} />
      <Where state={state} />
      <section className="debug-left" aria-label="Timeline">
        <Timeline
          rows={rows}
          state={state}
          cursor={cursor}
          look={setCursor}
          until={(at) => void order("until", String(at))}
          toggle={toggle}
        />
        <Breakpoints state={state} order={order} />
      </section>
      <Panes state={state} cursor={cursor} tab={tab} choose={setTab} />
      {asking === "edit" && <EditAnswer id={id} step={cursor} close={() => setAsking(null)} taken={taken} />}
      {asking === "fork" && <Fork id={id} step={cursor} close={() => setAsking(null)} />}
      {asking === "words" && <Words close={() => setAsking(null)} />}
      {asking === "raise" && (
        <Prompt
          label={`Let step ${cursor} fail`}
          begin={meant}
          hint="TimeoutError: too slow, or with its module: httpx.ReadTimeout: too slow"
          close={() => setAsking(null)}
          done={(text) => order("raise", text, cursor)}
        />
      )}
      {asking === "break" && (
        <Prompt
          label="Stop there"
          begin={meant}
          hint="7, tool:cancel_order, error, divergence, state:NAME"
          close={() => setAsking(null)}
          done={(text) => order("break", text)}
        />
      )}
      {asking === "find" && (
        <Prompt
          label="Look for a step"
          begin={meant}
          hint="Its number, or a filter: tool:cancel_order, error, tokens > 4000"
          close={() => setAsking(null)}
          done={look}
        />
      )}
      {asking === "command" && (
        <Prompt
          label="Command"
          begin={meant}
          hint="By the words of the terminal: break error, until 7, edit 3 = 42; help lists them"
          close={() => setAsking((now) => (now === "command" ? null : now))}
          done={command}
        />
      )}
    </div>
  );
}

function Head({ state }: { state: Standing }) {
  return (
    <header className="film-head">
      <h1 className="clip">
        <Link to={`/r/${state.recording}`}>{state.name || state.recording}</Link>
      </h1>
      <span className="quiet clip">
        {counted(state.steps, "step")}
        {state.note && ` · ${state.note}; reading only`}
      </span>
    </header>
  );
}

/** Where the program stands, in a line; who hears the page hears every stop. */
function Where({ state }: { state: Standing }) {
  const verdict = state.phase === "ended" ? state.verdict : null;
  return (
    <p className={`debug-standing ${state.phase}`} role="status">
      <b>{state.status}</b>
      {state.why && state.why !== state.status && <span>{state.why}</span>}
      {verdict && <span className={verdict.faithful ? "badge good" : "badge bad"}>{verdict.word}</span>}
      {state.own_prompt && (
        <span>the program's own breakpoint(): its prompt needs a terminal; s goes on</span>
      )}
    </p>
  );
}

function Bar({
  state,
  order,
  ask,
  cursor,
}: {
  state: Standing;
  order: (order: string, rest?: string) => Promise<boolean>;
  ask: (what: Asking, begin?: string) => void;
  cursor: number;
}) {
  const running = state.phase === "running";
  const gone = state.phase === "ended" || state.phase === "died";
  const [word, setWord] = useState("");
  const button = (label: string, key: string, does: () => void, off = running) => (
    <button
      type="button"
      className="button"
      disabled={off}
      aria-keyshortcuts={key}
      onFocus={() => setWord(key)}
      onBlur={() => setWord("")}
      onClick={does}
    >
      {label} <kbd aria-hidden>{key}</kbd>
    </button>
  );
  return (
    <div className="debug-bar" role="toolbar" aria-label="Steering" data-key={word}>
      {button("Continue", "c", () => order("continue"), running || gone)}
      {button("Step", "s", () => order("step"), running || gone)}
      {button("Over", "n", () => order("over"), running || gone)}
      {button("Into", "i", () => order("into"), running || gone || !state.inside)}
      {button("Out", "o", () => order("out"), running || gone)}
      <span className="gap" />
      {button("Back", "p", () => order("back"))}
      {button("Reverse", "r", () => order("reverse"))}
      {button("Restart", "R", () => order("restart"))}
      {button("Stop", ".", () => order("interrupt"), !running)}
      <span className="gap" />
      {button(`Until ${cursor}`, "u", () => order("until", String(cursor)))}
      {button(`Edit ${cursor}`, "e", () => ask("edit"), running || state.phase === "reading")}
      {button(`Fork ${cursor}`, "f", () => ask("fork"), false)}
      {button("Break", "B", () => ask("break"), false)}
      {button("Command", ":", () => ask("command"), false)}
    </div>
  );
}

function Breakpoints({
  state,
  order,
}: {
  state: Standing;
  order: (order: string, rest?: string) => Promise<boolean>;
}) {
  if (!state.breakpoints.length) return null;
  return (
    <ul className="debug-points" aria-label="Breakpoints">
      {state.breakpoints.map((point) => (
        <li key={point.text}>
          <span className="stop" aria-hidden />
          <code className="clip">{point.text}</code>
          <span className="quiet clip">
            {point.steps.length
              ? `at ${point.steps.slice(0, 6).join(", ")}${point.steps.length > 6 ? " …" : ""}`
              : ""}
          </span>
          <button
            type="button"
            className="button bare"
            aria-label={`Clear the breakpoint ${point.text}`}
            onClick={() => order("clear", point.text)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The cursor goes with the program, and the pane that says most about a state out of the ordinary is shown. */
function useFollowing(state: Standing, look: (step: number) => void, show: (tab: Tab) => void): void {
  const { phase } = state;
  const { step, extra } = state.at;
  const stood = phase !== "running";
  const odd =
    phase === "departed" ? "actual" : phase === "died" || (state.exit && !state.left) ? "output" : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every stop counts, also one at the same step
  useEffect(() => {
    if (!stood) return;
    if (step) look(step);
    if (odd) show(odd);
  }, [stood, step, extra, phase]);
}

/** Looking for steps: by number, or by a filter of which there is a next one and one before. */
function useFinding(id: string, go: (step: number) => void) {
  const [found, setFound] = useState<readonly number[]>([]);
  const look = useCallback(
    async (text: string): Promise<boolean> => {
      if (/^\d+$/.test(text)) {
        go(Number(text));
        return true;
      }
      try {
        const { steps } = await get<components["schemas"]["StepNumbersView"]>(
          path("recordings", id, "search"),
          {
            q: text,
          },
        );
        setFound(steps);
        if (steps[0] === undefined) say(`No step matches ${text}`);
        else go(steps[0]);
        return true;
      } catch (error) {
        complain(error);
        return false;
      }
    },
    [id, go],
  );
  const find = (by: 1 | -1, from: number) => {
    const next =
      by > 0
        ? (found.find((each) => each > from) ?? found[0])
        : (found.findLast((each) => each < from) ?? found.at(-1));
    if (next === undefined) say("type / and a filter such as tool:cancel_order, or a step's number");
    else go(next);
  };
  return { find, look };
}

/** A command's name, by any of its words; the word itself where it is none. */
async function wordOf(word: string): Promise<string> {
  const known = await get<components["schemas"]["Word"][]>("/debug/commands").catch(() => []);
  return known.find((each) => each.name === word || each.short.includes(word))?.name ?? word;
}
