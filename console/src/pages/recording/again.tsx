/** All ways to work on a recording: here as a job, or by a command to copy. */

import { Link } from "wouter";
import type { Whole } from "../../model";
import { useBegin } from "../../parts/jobs";
import { type Way, Ways } from "../../parts/ways";

export function Again({ line, step, close }: { line: Whole; step: number | null; close: () => void }) {
  const { id } = line;
  const { begin, under } = useBegin();
  const job = (kind: string, label: string) => (
    <Link to={`/jobs?kind=${kind}&recording=${id}`} className="button">
      {label}
    </Link>
  );
  const ways: Way[] = [
    {
      about: "Replay: the same code, with the recorded answers",
      command: `reenact replay ${id}`,
      here: (
        <button
          type="button"
          className="button primary"
          disabled={under}
          onClick={() => begin({ kind: "reproduce", recording: id, options: { times: 1 } })}
        >
          {under ? "Starting …" : "Replay now"}
        </button>
      ),
    },
    {
      about: "Reproduce: several replays, to see if the failure comes each time",
      command: `reenact reproduce ${id}`,
      here: job("reproduce", "Reproduce …"),
    },
    {
      about: "Debug: stop at steps, look at the state",
      command: `reenact debug --web ${id}`,
      here: (
        <Link to={`/debug/${id}`} className="button">
          Debug
        </Link>
      ),
    },
    {
      about: step
        ? `Fork at step ${step}: recorded answers before it, real calls after it`
        : "Fork: open a step, then Edit and fork",
      command: `reenact fork ${id} --at ${step ?? "STEP"}`,
    },
    {
      about: "Bisect: find the answers of a good run that turn this run good",
      command: `reenact bisect ${id} --good GOOD --check-output`,
      here: job("bisect", "Bisect …"),
    },
    { about: "Keep as a pytest test", command: `reenact keep ${id}`, here: job("keep", "Keep …") },
    {
      about: "Report of the failure, one page to send",
      command: `reenact report ${id} -o report.html`,
      here: job("report", "Report …"),
    },
  ];
  return <Ways title="Ways to run it again" ways={ways} close={close} />;
}
