/** Run a recording again: here, or by a command to copy. */

import { Link } from "wouter";
import type { Whole } from "../../model";
import { useBegin } from "../../parts/jobs";
import { Command, Dialog } from "../../ui";

export function Again({ line, step, close }: { line: Whole; step: number | null; close: () => void }) {
  const { id } = line;
  const { begin, under } = useBegin();
  const ways: [string, string][] = [
    ["Replay it: the same code, answered from the recording", `reenact replay ${id}`],
    ["Debug it here, step by step", `reenact debug --web ${id}`],
    [
      step ? `Fork it at step ${step}: replayed up to there, then live` : "Fork it: choose a step first",
      `reenact fork ${id} --at ${step ?? "STEP"}`,
    ],
    ["Keep it as a pytest test", `reenact keep ${id}`],
    ["Write a report of the failure", `reenact report ${id}`],
    ["One file, to attach to a bug report", `reenact export ${id}`],
  ];
  return (
    <Dialog title="Run it again" close={close} className="again">
      <h2>Run it again</h2>
      <p className="here">
        Here, as a job:{" "}
        <button
          type="button"
          className="button primary"
          disabled={under}
          onClick={() => begin({ kind: "reproduce", recording: id, options: { times: 1 } })}
        >
          {under ? "Starting …" : "Replay now"}
        </button>{" "}
        {(["reproduce", "bisect", "report", "keep"] as const).map((kind) => (
          <Link key={kind} to={`/jobs?kind=${kind}&recording=${id}`} className="button">
            {kind}
          </Link>
        ))}
      </p>
      <h3>In a terminal</h3>
      <dl>
        {ways.map(([about, command]) => (
          <div key={command}>
            <dt>{about}</dt>
            <dd>
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
