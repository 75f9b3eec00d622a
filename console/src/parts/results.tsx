/** What came of a job: the attempts of a failure, the matrix of recordings, the decisive step. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { get, path } from "../client";
import { counted, duration } from "../format";
import type { Bisection, Diagnosis, Divergence, Forked, Job, Line, Outcome, Reproduction } from "../model";
import { Failure, Status } from "../ui";
import { Table } from "./table";

export function Result({ job }: { job: Job }) {
  const { kind, result } = job;
  if (result === null) return null;
  // The server has checked it: the kind of a job says which view its result is.
  if (kind === "reproduce") return <Attempts of={result as Reproduction} />;
  if (kind === "verify") return <Matrix outcomes={result as Outcome[]} />;
  if (kind === "diagnose") return <Findings runs={result as Diagnosis[]} />;
  if (kind === "bisect") return <Decisive of={result as Bisection} />;
  if (kind === "fork") return <Fork of={result as Forked} />;
  return <pre className="panel">{JSON.stringify(result, null, 2)}</pre>;
}

const WORDS: Record<string, string> = {
  reproduced: "It reproduces.",
  different: "The result differs from the recording.",
  "flaky under replay": "It reproduces in some replays.",
  "cannot run": "It cannot be run.",
};

function Attempts({ of }: { of: Reproduction }) {
  const { attempts, where } = of;
  const departure = attempts.map((each) => each.verdict?.divergences[0]).find((each) => each !== undefined);
  return (
    <section>
      <h2>
        {attempts.length === 1 && attempts[0]?.verdict?.faithful
          ? "The replay is faithful: it did all that was recorded."
          : (WORDS[of.result] ?? of.result)}
      </h2>
      {departure ? (
        <Departure of={departure} recording={of.recording} />
      ) : (
        where !== null && <p className="recorded">{where}</p>
      )}
      <Table heads={["attempt", "outcome", "exit", "took", "why"]}>
        {attempts.map((each, at) => {
          const word = each.failed ? "error" : each.verdict?.faithful === false ? "diverged" : "ok";
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: attempts are numbered
            <tr key={at}>
              <td>{at + 1}</td>
              <td>
                <Status of={word} />
              </td>
              <td>{each.exit}</td>
              <td>{duration(each.seconds)}</td>
              <td className="recorded">{each.failed}</td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

/** Where a replay left its recording, and in what. */
function Departure({ of, recording }: { of: Divergence; recording: string }) {
  return (
    <>
      <p>
        <b>{of.kind}</b>{" "}
        {of.step ? (
          <>
            at{" "}
            <Link to={`/r/${recording}/${of.step}`}>
              step {of.step}, <code>{of.address}</code>
            </Link>
          </>
        ) : (
          <code>{of.address}</code>
        )}
      </p>
      {of.mismatches.length > 0 && (
        <Table heads={["part", "recorded", "actual"]}>
          {of.mismatches.slice(0, 50).map((each) => (
            <tr key={each.path}>
              <td className="mono">{each.path}</td>
              <td className="recorded">{short(each.recorded)}</td>
              <td className="recorded">{short(each.actual)}</td>
            </tr>
          ))}
        </Table>
      )}
      {of.detail && <p className="recorded">{of.detail}</p>}
      {of.hint && <p className="quiet">{of.hint}</p>}
    </>
  );
}

function short(value: unknown): string {
  const said = typeof value === "string" ? value : JSON.stringify(value);
  return said.length > 2000 ? `${said.slice(0, 2000)}…` : said;
}

const MOST = 500;

/** Recordings against today's code: how each went, those that went wrong first. */
function Matrix({ outcomes }: { outcomes: Outcome[] }) {
  const [only, setOnly] = useState("");
  const kinds = new Map<string, number>();
  for (const { status } of outcomes) kinds.set(status, (kinds.get(status) ?? 0) + 1);
  const shown = outcomes
    .filter((each) => !only || each.status === only)
    .toSorted((one, other) => rank(one.status) - rank(other.status));
  return (
    <section>
      <h2>{counted(outcomes.length, "recording")} against today's code</h2>
      <p className="row">
        {[...kinds].map(([kind, many]) => (
          <button
            key={kind}
            type="button"
            className="button"
            aria-pressed={only === kind}
            onClick={() => setOnly(only === kind ? "" : kind)}
          >
            <span className={`dot ${rank(kind) ? "good" : "bad"}`} aria-hidden /> {many} {kind}
          </button>
        ))}
      </p>
      <ul className="cells" aria-label="All of them">
        {outcomes.slice(0, 2000).map((each) => (
          <li key={each.recording}>
            <Link
              to={`/r/${each.recording}${each.step ? `/${each.step}` : ""}`}
              className={rank(each.status) ? "good" : "bad"}
              title={`${each.recording} ${each.status} ${each.cause}`}
            >
              <span className="unseen">
                {each.recording} {each.status}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <Table heads={["recording", "outcome", "step", "why", "took"]}>
        {shown.slice(0, MOST).map((each) => (
          <tr key={each.recording}>
            <td>
              <Link to={`/r/${each.recording}`} className="mono">
                {each.recording}
              </Link>{" "}
              <span className="quiet">{each.name}</span>
            </td>
            <td>
              <span className={rank(each.status) ? "badge good" : "badge bad"}>{each.status}</span>
            </td>
            <td>
              {each.step !== null && each.step !== undefined && (
                <Link to={`/r/${each.recording}/${each.step}`}>{each.step}</Link>
              )}
            </td>
            <td className="recorded">{each.cause || each.detail}</td>
            <td>{duration(Number(each.seconds))}</td>
          </tr>
        ))}
      </Table>
      {shown.length > MOST && <p className="quiet">and {shown.length - MOST} more: the files have all</p>}
    </section>
  );
}

/** 1 for what is as it was, 0 for what is not. */
function rank(status: string): number {
  return ["same", "fixed"].includes(status) ? 1 : 0;
}

const TONES: Record<string, string> = { error: "bad", warning: "warn" };

/** What is odd about recordings: those first of which the most is said to be wrong. */
function Findings({ runs }: { runs: Diagnosis[] }) {
  const odd = runs
    .filter((run) => run.findings.length > 0)
    .toSorted((one, other) => errors(other) - errors(one));
  const rows = odd.flatMap((run) => run.findings.map((finding) => ({ run, finding })));
  return (
    <section>
      <h2>
        {odd.length === 0 ? "No anomalies" : `${counted(rows.length, "finding")} in ${odd.length}`} of{" "}
        {counted(runs.length, "recording")}
      </h2>
      {rows.length > 0 && (
        <Table heads={["recording", "step", "severity", "what", "rule"]}>
          {rows.slice(0, MOST).map(({ run, finding }, at) => {
            const { id } = run;
            const { step } = finding;
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: findings do not move
              <tr key={at}>
                <td>
                  <Link to={`/r/${id}`} className="mono">
                    {id}
                  </Link>{" "}
                  <span className="quiet">{run.name}</span>
                </td>
                <td>{step !== null && <Link to={`/r/${id}/${step}`}>{step}</Link>}</td>
                <td>
                  <span className={`badge ${TONES[finding.severity] ?? ""}`}>{finding.severity}</span>
                </td>
                <td className="recorded">
                  {finding.sentence}
                  {finding.evidence && <div className="quiet">{finding.evidence}</div>}
                </td>
                <td className="mono">{finding.rule}</td>
              </tr>
            );
          })}
        </Table>
      )}
      {rows.length > MOST && <p className="quiet">and {rows.length - MOST} more</p>}
    </section>
  );
}

function errors(run: Diagnosis): number {
  return run.findings.filter((finding) => finding.severity === "error").length;
}

function Decisive({ of }: { of: Bisection }) {
  return (
    <section>
      <h2>{of.summary}</h2>
      <p className="row">
        {of.changes.map((change) =>
          change.step ? (
            <Link key={change.name} to={`/r/${of.bad}/${change.step}`} className="button">
              step {change.step}: {change.name}
            </Link>
          ) : (
            <span key={change.name}>{change.name}</span>
          ),
        )}
        <Link to={`/compare/${of.good}/${of.bad}`} className="button">
          Compare the two
        </Link>
      </p>
      <Table heads={["trial", "answers of the good run", "outcome", "why"]}>
        {of.trials.map((trial, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: trials are numbered
          <tr key={at}>
            <td>{at + 1}</td>
            <td className="recorded">{trial.changes.join(", ")}</td>
            <td>{trial.result}</td>
            <td className="recorded">{trial.why}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** The child of a fork beside its parent: what each ended with, and what ran for real. */
function Fork({ of }: { of: Forked }) {
  const { parent, ran } = of;
  const child = of.recording ?? "";
  const lines = useQuery({
    queryKey: ["forked", parent, child],
    queryFn: ({ signal }) =>
      Promise.all(
        [parent, child].map((id) => get<Line>(path("recordings", id), {}, signal).catch(() => null)),
      ),
    enabled: child !== "" && parent !== "",
  });
  if (!child) return <Failure error={new Error(of.reason || "no recording was made")} />;
  return (
    <section>
      <h2>The fork made a new recording</h2>
      {of.how === "stopped" && (
        <p className="failure">It stopped before its end: {of.reason || "a call was refused"}</p>
      )}
      <Table heads={["", "recording", "status", "outcome", "steps"]}>
        {lines.data?.map((line, at) =>
          line === null ? null : (
            <tr key={line.id}>
              <td className="quiet">{at === 0 ? "before" : "the fork"}</td>
              <td>
                <Link to={`/r/${line.id}${of.step ? `/${of.step}` : ""}`} className="mono">
                  {line.id}
                </Link>
              </td>
              <td>
                <Status of={line.status} />
              </td>
              <td className="recorded">{line.outcome ?? ""}</td>
              <td>{line.steps}</td>
            </tr>
          ),
        )}
      </Table>
      {ran.length > 0 && <p className="quiet">Ran for real: {ran.join(", ")}</p>}
      <p className="row">
        <Link to={`/r/${child}${of.step ? `/${of.step}` : ""}`} className="button primary">
          Open the fork
        </Link>
        {parent && (
          <Link to={`/compare/${parent}/${child}`} className="button">
            Compare the two
          </Link>
        )}
      </p>
    </section>
  );
}
