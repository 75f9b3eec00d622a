/** All ways to work on a recording: here as a job, or by a command to copy. */

import { Link } from "wouter";
import type { Whole } from "../../model";
import { useBegin } from "../../parts/jobs";
import { Command, Dialog } from "../../ui";

export function Again({ line, step, close }: { line: Whole; step: number | null; close: () => void }) {
  const { id } = line;
  const { begin, under } = useBegin();
  const job = (kind: string, label: string) => (
    <Link to={`/jobs?kind=${kind}&recording=${id}`} className="button">
      {label}
    </Link>
  );
  const ways: [string, string, React.ReactNode][] = [
    [
      "Replay: the same code, with the recorded answers",
      `reenact replay ${id}`,
      <button
        key="replay"
        type="button"
        className="button primary"
        disabled={under}
        onClick={() => begin({ kind: "reproduce", recording: id, options: { times: 1 } })}
      >
        {under ? "Starting …" : "Replay now"}
      </button>,
    ],
    [
      "Reproduce: several replays, to see if the failure comes each time",
      `reenact reproduce ${id}`,
      job("reproduce", "Reproduce …"),
    ],
    [
      "Debug: stop at steps, look at the state",
      `reenact debug --web ${id}`,
      <Link key="debug" to={`/debug/${id}`} className="button">
        Debug
      </Link>,
    ],
    [
      step
        ? `Fork at step ${step}: recorded answers before it, real calls after it`
        : "Fork: open a step, then Edit and fork",
      `reenact fork ${id} --at ${step ?? "STEP"}`,
      null,
    ],
    [
      "Bisect: find the answers of a good run that turn this run good",
      `reenact bisect ${id} --good GOOD`,
      job("bisect", "Bisect …"),
    ],
    ["Keep as a pytest test", `reenact keep ${id}`, job("keep", "Keep …")],
    ["Report of the failure, one page to send", `reenact report ${id}`, job("report", "Report …")],
    ["Export as one file, for a bug report", `reenact export ${id}`, job("export", "Export …")],
  ];
  return (
    <Dialog title="Ways to run it again" close={close} className="again">
      <h2>Ways to run it again</h2>
      <dl>
        {ways.map(([about, command, here]) => (
          <div key={command}>
            <dt>{about}</dt>
            <dd>
              {here}
              <Command text={command} />
            </dd>
          </div>
        ))}
      </dl>
      <button type="button" className="button" onClick={close}>
        Close
      </button>
    </Dialog>
  );
}
