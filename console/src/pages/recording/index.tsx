/** One recording: its timeline, what was said and done, and a step of it in full. */

import { type Ref, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import { listAt, meant } from "../../filter";
import { titled } from "../../format";
import { useKeys } from "../../keys";
import { useTitle } from "../../shell";
import { looked } from "../../text";
import { Failure, Nothing, Reading } from "../../ui";
import { About } from "./about";
import { Again } from "./again";
import { useBeginning, useFindings, useGrowth, useHits, useLanes, useWhole } from "./data";
import { Head } from "./head";
import { StepPanel } from "./panel";
import { Steps } from "./steps";
import { Talk } from "./talk";
import { Timeline } from "./timeline";
import { Within } from "./within";
import "./recording.css";

/** What a list can be told from outside. */
export interface Shown {
  show: (step: number) => void;
  focus: () => void;
}

export default function RecordingPage() {
  const { id = "" } = useParams<{ id: string }>();
  return <OneRecording key={id} id={id} />;
}

function OneRecording({ id }: { id: string }) {
  const params = useParams<{ step?: string }>();
  const step = /^\d+$/.test(params.step ?? "") ? Number(params.step) : null;
  const [words, setWords] = useSearchParams();
  const [, go] = useLocation();
  const [again, setAgain] = useState(false);
  const [follow, setFollow] = useState(true);
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<Shown>(null);
  useBeginning(id, step);
  const whole = useWhole(id);
  const findings = useFindings(id);
  const lanes = useLanes(id);
  const q = words.get("q") ?? "";
  const wanted = words.get("view");
  const view = wanted === "steps" || wanted === "about" ? wanted : "talk";
  const hits = useHits(id, q);
  const line = whole.data;
  const total = line?.steps ?? 0;
  const odd = useMemo(
    () =>
      [...new Set(findings.data?.items.flatMap((one) => (one.step === null ? [] : [one.step])))].sort(
        (a, b) => a - b,
      ),
    [findings.data],
  );
  const marked = q ? (hits.data?.steps ?? []) : odd;
  useTitle(line ? `${titled(line)}${step ? ` · step ${step}` : ""}` : id);
  useGrowth(id, line?.live ?? false);

  // Keys may come faster than the page is drawn: each goes on from where the one before it led.
  const place = useRef(step);
  useEffect(() => {
    place.current = step;
  }, [step]);
  const at = (to: number | null) => {
    place.current = to;
    const rest = words.toString();
    go(`/r/${id}${to === null ? "" : `/${to}`}${rest ? `?${rest}` : ""}`, {
      replace: step !== null && to !== null,
    });
    if (to === null) list.current?.focus();
    else list.current?.show(to);
  };
  const put = (name: string, value: string) =>
    setWords(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(name, value);
        else next.delete(name);
        return next;
      },
      { replace: true },
    );
  const move = (by: number) =>
    total > 0 && at(Math.max(1, Math.min((place.current ?? (by > 0 ? 0 : total + 1)) + by, total)));
  const leap = (by: 1 | -1) => {
    const here = place.current ?? 0;
    const next = by > 0 ? marked.find((one) => one > here) : marked.findLast((one) => one < here);
    const to = next ?? (by > 0 ? marked[0] : marked.at(-1));
    if (to !== undefined) at(to);
  };
  const what = q ? "hit" : "anomaly";
  useKeys("This recording", {
    j: { does: "Next step", run: () => move(1) },
    k: { does: "Previous step", run: () => move(-1) },
    ArrowDown: { does: "Next step", run: () => move(1) },
    ArrowUp: { does: "Previous step", run: () => move(-1) },
    Home: { does: "First step", run: () => move(-total) },
    End: { does: "Last step", run: () => move(total) },
    n: { does: `Next ${what}`, run: () => leap(1) },
    p: { does: `Previous ${what}`, run: () => leap(-1) },
    "/": { does: "Search within", run: () => search.current?.select() },
    t: { does: "Conversation or steps", run: () => put("view", view === "steps" ? "" : "steps") },
    r: { does: "Ways to run it again", run: () => setAgain(true) },
    ...(line?.live ? { f: { does: "Follow new steps", run: () => setFollow(!follow) } } : {}),
    Escape: {
      does: "Close the step, leave the search",
      run: () => (q ? put("q", "") : step !== null ? at(null) : go(listAt())),
    },
  });

  if (whole.error && !line) {
    return (
      <Nothing title="This recording cannot be shown">
        <Failure error={whole.error} />
        <p>
          It may have been deleted, or be in another home. <Link to={listAt()}>All recordings</Link>
        </p>
      </Nothing>
    );
  }
  if (!line)
    return (
      <Reading title={id} className="reading">
        Reading {id}…
      </Reading>
    );
  const marks = looked(meant(q));
  const lists = {
    id,
    total,
    here: step,
    follow: follow && step === null,
    at,
    hits: q ? marked : null,
    marks,
    findings: findings.data?.items ?? [],
  };
  return (
    <div className={`recording ${step === null ? "" : "stepped"} view-${view}`}>
      <Head line={line} more={() => setAgain(true)} follow={follow} setFollow={setFollow} />
      {whole.error && <Failure error={whole.error} />}
      {lanes.data && lanes.data.bars.length > 0 && (
        <Timeline lanes={lanes.data} here={step} marked={marked} live={line.live} at={at} />
      )}
      <div className="panes">
        <section className="left" aria-label={view === "steps" ? "Steps" : "Conversation"}>
          <Within
            field={search}
            q={q}
            put={put}
            view={view}
            marked={marked}
            what={what}
            here={step}
            leap={leap}
            error={hits.error}
            done={() => list.current?.focus()}
            waiting={hits.isFetching}
          />
          {view === "steps" ? (
            <Steps ref={list as Ref<Shown>} {...lists} />
          ) : (
            <Talk ref={list as Ref<Shown>} {...lists} />
          )}
        </section>
        {step === null ? (
          <About line={line} known={!whole.isPlaceholderData} findings={findings.data} at={at} />
        ) : (
          <StepPanel
            id={id}
            step={step}
            total={total}
            marks={marks}
            findings={lists.findings}
            at={at}
            move={move}
            tab={words.get("tab") ?? "step"}
            setTab={(tab) => put("tab", tab === "step" ? "" : tab)}
          />
        )}
      </div>
      {again && <Again line={line} step={step} close={() => setAgain(false)} />}
    </div>
  );
}
