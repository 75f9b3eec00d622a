/** What a recording says of itself: what is odd, how it ended, what ran. Beside the list, until a step is opened. */

import { count } from "../../format";
import type { Files, Findings, Whole } from "../../model";
import { ChangedFiles, useFiles } from "../../parts/files";
import { Odd } from "../../told";
import { Value } from "../../tree";
import { Part } from "./panel";

export function About({
  line,
  known,
  findings,
  at,
}: {
  line: Whole;
  /** Whether all is known of it, or only what the list said. */
  known: boolean;
  findings: Findings | undefined;
  at: (step: number) => void;
}) {
  const files = useFiles(line.id, line.live);
  const ended = line.output !== null && line.output !== undefined;
  return (
    <section className="about-run" aria-label="About this recording">
      {findings?.problem && line.steps > 0 && <p className="quiet">{findings.problem}</p>}
      {findings && findings.items.length > 0 && (
        <Part title={`Anomalies: ${findings.items.length}`} folded={!findings.items.some((one) => one.pill)}>
          <ul className="findings">
            {findings.items.map((finding) => (
              <li key={`${finding.rule}${finding.step}`}>
                {finding.step === null ? (
                  <span className="quiet number">run</span>
                ) : (
                  <button type="button" className="button bare number" onClick={() => at(finding.step ?? 1)}>
                    {finding.step}
                  </button>
                )}
                <Odd finding={finding} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {ended && (
        <Part title="Result">
          <Value value={line.output} />
        </Part>
      )}
      {files.data && files.data.files.length > 0 && (
        <Part title={`Files: ${changed(files.data)}`}>
          <ChangedFiles id={line.id} step={null} roots={files.data.roots} />
        </Part>
      )}
      {line.processes.length > 1 && (
        <Part title={`Processes: ${line.processes.length}`}>
          <ul className="processes">
            {line.processes.map((process) => (
              <li key={process.file}>
                <code className="clip">{process.name}</code>
                <span className="quiet">
                  {count(process.steps)} steps, {count(process.events)} events
                  {process.pid ? `, pid ${process.pid}` : ""}
                </span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {line.program !== null && line.program !== undefined && (
        <Part title="Program">
          <Value value={line.program} />
        </Part>
      )}
      {line.source !== null && line.source !== undefined && (
        <Part title="Origin">
          <Value value={line.source} />
        </Part>
      )}
      {known && (
        <Part title="Header" folded>
          <Value value={line.header} />
        </Part>
      )}
    </section>
  );
}

/** How many files the run changed, of how many it used. */
function changed({ files }: Files): string {
  const many = files.filter((file) => file.change !== "same").length;
  return `${many} changed, ${files.length - many} only read`;
}
