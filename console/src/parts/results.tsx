/** What came of a job: the attempts of a failure, the matrix of recordings, the decisive step. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { get, path } from "../client";
import { counted, duration } from "../format";
import type { Job, Line } from "../model";
import { visible } from "../text";
import { Failure, Status } from "../ui";
import { Table } from "./table";

type Tree = Record<string, unknown>;

export function Result({ job }: { job: Job }) {
  const { result } = job;
  if (job.kind === "reproduce" && isTree(result)) return <Reproduction tree={result} />;
  if (job.kind === "verify" && Array.isArray(result)) return <Matrix outcomes={result.filter(isTree)} />;
  if (job.kind === "diagnose" && Array.isArray(result)) return <Diagnosis runs={result.filter(isTree)} />;
  if (job.kind === "bisect" && isTree(result)) return <Decisive tree={result} />;
  if (job.kind === "fork" && isTree(result)) return <Forked tree={result} />;
  if (!isTree(result)) return null;
  return <pre className="panel">{JSON.stringify(result, null, 2)}</pre>;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return value === null || value === undefined ? "" : String(value);
}

const WORDS: Record<string, string> = {
  reproduced: "It reproduces.",
  different: "The result differs from the recording.",
  "flaky under replay": "It reproduces in some replays.",
  "cannot run": "It cannot be run.",
};

function Reproduction({ tree }: { tree: Tree }) {
  const attempts = Array.isArray(tree.attempts) ? tree.attempts.filter(isTree) : [];
  const result = text(tree.result);
  const departure = attempts.map(departed).find((each) => each !== null) ?? null;
  return (
    <section>
      <h2>
        {attempts.length === 1 && verdictOf(attempts[0])?.faithful === true
          ? "The replay is faithful: it did all that was recorded."
          : (WORDS[result] ?? result)}
      </h2>
      {departure ? (
        <Departure tree={departure} recording={text(tree.recording)} />
      ) : (
        tree.where !== null && <p className="recorded">{text(tree.where)}</p>
      )}
      <Table heads={["attempt", "outcome", "exit", "took", "why"]}>
        {attempts.map((each, at) => {
          const verdict = isTree(each.verdict) ? each.verdict : null;
          const word = each.failed ? "error" : verdict?.faithful === false ? "diverged" : "ok";
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: attempts are numbered
            <tr key={at}>
              <td>{at + 1}</td>
              <td>
                <Status of={word} />
              </td>
              <td>{text(each.exit)}</td>
              <td>{duration(Number(each.seconds))}</td>
              <td className="recorded">{text(each.failed)}</td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

function verdictOf(attempt: Tree | undefined): Tree | null {
  return isTree(attempt?.verdict) ? attempt.verdict : null;
}

/** The first divergence of a replay. */
function departed(attempt: Tree): Tree | null {
  const found = verdictOf(attempt)?.divergences;
  return Array.isArray(found) && isTree(found[0]) ? found[0] : null;
}

/** Where a replay left its recording, and in what. */
function Departure({ tree, recording }: { tree: Tree; recording: string }) {
  const mismatches = Array.isArray(tree.mismatches) ? tree.mismatches.filter(isTree) : [];
  return (
    <>
      <p>
        <b>{text(tree.kind)}</b>{" "}
        {tree.step ? (
          <>
            at{" "}
            <Link to={`/r/${recording}/${text(tree.step)}`}>
              step {text(tree.step)}, <code>{text(tree.address)}</code>
            </Link>
          </>
        ) : (
          <code>{text(tree.address)}</code>
        )}
      </p>
      {mismatches.length > 0 && (
        <Table heads={["part", "recorded", "actual"]}>
          {mismatches.slice(0, 50).map((each) => (
            <tr key={text(each.path)}>
              <td className="mono">{text(each.path)}</td>
              <td className="recorded">{visible(short(each.recorded))}</td>
              <td className="recorded">{visible(short(each.actual))}</td>
            </tr>
          ))}
        </Table>
      )}
      {text(tree.detail) && <p className="recorded">{visible(text(tree.detail))}</p>}
      {text(tree.hint) && <p className="quiet">{text(tree.hint)}</p>}
    </>
  );
}

function short(value: unknown): string {
  const said = typeof value === "string" ? value : JSON.stringify(value);
  return said.length > 2000 ? `${said.slice(0, 2000)}…` : said;
}

const MOST = 500;

/** Recordings against today's code: how each went, those that went wrong first. */
function Matrix({ outcomes }: { outcomes: Tree[] }) {
  const [only, setOnly] = useState("");
  const kinds = new Map<string, number>();
  for (const each of outcomes) kinds.set(text(each.status), (kinds.get(text(each.status)) ?? 0) + 1);
  const shown = outcomes
    .filter((each) => !only || each.status === only)
    .toSorted((one, other) => rank(one) - rank(other));
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
            <span className={`dot ${rank({ status: kind }) ? "good" : "bad"}`} aria-hidden /> {many} {kind}
          </button>
        ))}
      </p>
      <ul className="cells" aria-label="All of them">
        {outcomes.slice(0, 2000).map((each) => (
          <li key={text(each.recording)}>
            <Link
              to={`/r/${text(each.recording)}${each.step ? `/${text(each.step)}` : ""}`}
              className={rank(each) ? "good" : "bad"}
              title={`${text(each.recording)} ${text(each.status)} ${text(each.cause)}`}
            >
              <span className="unseen">
                {text(each.recording)} {text(each.status)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <Table heads={["recording", "outcome", "step", "why", "took"]}>
        {shown.slice(0, MOST).map((each) => (
          <tr key={text(each.recording)}>
            <td>
              <Link to={`/r/${text(each.recording)}`} className="mono">
                {text(each.recording)}
              </Link>{" "}
              <span className="quiet">{text(each.name)}</span>
            </td>
            <td>
              <span className={rank(each) ? "badge good" : "badge bad"}>{text(each.status)}</span>
            </td>
            <td>
              {each.step !== null && each.step !== undefined && (
                <Link to={`/r/${text(each.recording)}/${text(each.step)}`}>{text(each.step)}</Link>
              )}
            </td>
            <td className="recorded">{text(each.cause) || text(each.detail)}</td>
            <td>{duration(Number(each.seconds))}</td>
          </tr>
        ))}
      </Table>
      {shown.length > MOST && <p className="quiet">and {shown.length - MOST} more: the files have all</p>}
    </section>
  );
}

/** 1 for what is as it was, 0 for what is not. */
function rank(outcome: Tree): number {
  return ["same", "fixed"].includes(text(outcome.status)) ? 1 : 0;
}

const TONES: Record<string, string> = { error: "bad", warning: "warn" };

/** What is odd about recordings: those first of which the most is said to be wrong. */
function Diagnosis({ runs }: { runs: Tree[] }) {
  const told = runs
    .map((run) => ({ run, findings: Array.isArray(run.findings) ? run.findings.filter(isTree) : [] }))
    .toSorted((one, other) => errors(other.findings) - errors(one.findings));
  const odd = told.filter(({ findings }) => findings.length > 0);
  const rows = odd.flatMap(({ run, findings }) => findings.map((finding) => ({ run, finding })));
  return (
    <section>
      <h2>
        {odd.length === 0 ? "No anomalies" : `${counted(rows.length, "finding")} in ${odd.length}`} of{" "}
        {counted(runs.length, "recording")}
      </h2>
      {rows.length > 0 && (
        <Table heads={["recording", "step", "severity", "what", "rule"]}>
          {rows.slice(0, MOST).map(({ run, finding }, at) => {
            const id = text(run.id);
            const step = finding.step === null ? "" : text(finding.step);
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: findings do not move
              <tr key={at}>
                <td>
                  <Link to={`/r/${id}`} className="mono">
                    {id}
                  </Link>{" "}
                  <span className="quiet">{text(run.name)}</span>
                </td>
                <td>{step && <Link to={`/r/${id}/${step}`}>{step}</Link>}</td>
                <td>
                  <span className={`badge ${TONES[text(finding.severity)] ?? ""}`}>
                    {text(finding.severity)}
                  </span>
                </td>
                <td className="recorded">
                  {text(finding.sentence)}
                  {text(finding.evidence) && <div className="quiet">{text(finding.evidence)}</div>}
                </td>
                <td className="mono">{text(finding.rule)}</td>
              </tr>
            );
          })}
        </Table>
      )}
      {rows.length > MOST && <p className="quiet">and {rows.length - MOST} more</p>}
    </section>
  );
}

function errors(findings: Tree[]): number {
  return findings.filter((finding) => finding.severity === "error").length;
}

function Decisive({ tree }: { tree: Tree }) {
  const trials = Array.isArray(tree.trials) ? tree.trials.filter(isTree) : [];
  const changes = Array.isArray(tree.changes) ? tree.changes.filter(isTree) : [];
  return (
    <section>
      <h2>{text(tree.summary)}</h2>
      <p className="row">
        {changes.map((change) =>
          change.step ? (
            <Link key={text(change.name)} to={`/r/${text(tree.bad)}/${text(change.step)}`} className="button">
              step {text(change.step)}: {text(change.name)}
            </Link>
          ) : (
            <span key={text(change.name)}>{text(change.name)}</span>
          ),
        )}
        <Link to={`/compare/${text(tree.good)}/${text(tree.bad)}`} className="button">
          Compare the two
        </Link>
      </p>
      <Table heads={["trial", "answers of the good run", "outcome", "why"]}>
        {trials.map((trial, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: trials are numbered
          <tr key={at}>
            <td>{at + 1}</td>
            <td className="recorded">{Array.isArray(trial.changes) ? trial.changes.join(", ") : ""}</td>
            <td>{text(trial.result)}</td>
            <td className="recorded">{text(trial.why)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** The child of a fork beside its parent: what each ended with, and what ran for real. */
function Forked({ tree }: { tree: Tree }) {
  const child = text(tree.recording);
  const parent = text(tree.parent);
  const ran = Array.isArray(tree.ran) ? tree.ran : [];
  const lines = useQuery({
    queryKey: ["forked", parent, child],
    queryFn: ({ signal }) =>
      Promise.all(
        [parent, child].map((id) => get<Line>(path("recordings", id), {}, signal).catch(() => null)),
      ),
    enabled: child !== "" && parent !== "",
  });
  if (!child) return <Failure error={new Error(text(tree.reason) || "no recording was made")} />;
  return (
    <section>
      <h2>The fork made a new recording</h2>
      {tree.how === "stopped" && (
        <p className="failure">It stopped before its end: {text(tree.reason) || "a call was refused"}</p>
      )}
      <Table heads={["", "recording", "status", "outcome", "steps"]}>
        {lines.data?.map((line, at) =>
          line === null ? null : (
            <tr key={line.id}>
              <td className="quiet">{at === 0 ? "before" : "the fork"}</td>
              <td>
                <Link to={`/r/${line.id}${tree.step ? `/${text(tree.step)}` : ""}`} className="mono">
                  {line.id}
                </Link>
              </td>
              <td>
                <Status of={line.status} />
              </td>
              <td className="recorded">{visible(line.outcome ?? "")}</td>
              <td>{line.steps}</td>
            </tr>
          ),
        )}
      </Table>
      {ran.length > 0 && (
        <p className="quiet">
          Ran for real:{" "}
          {ran.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join(", ")}
        </p>
      )}
      <p className="row">
        <Link to={`/r/${child}${tree.step ? `/${text(tree.step)}` : ""}`} className="button primary">
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
