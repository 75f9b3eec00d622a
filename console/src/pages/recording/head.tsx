/** What a recording is, in two lines, and where one can go from it. */

import { useState } from "react";
import { Link } from "wouter";
import { count, counted, duration, money, titled, whenExactly } from "../../format";
import type { Whole } from "../../model";
import { useBegin } from "../../parts/jobs";
import { Origin, Status } from "../../ui";
import { ExportDialog } from "./export";
import { LabelDialog } from "./labels";

export function Head({
  line,
  more,
  follow,
  setFollow,
}: {
  line: Whole;
  more: () => void;
  follow: boolean;
  setFollow: (on: boolean) => void;
}) {
  const { begin, under } = useBegin();
  const [labelling, setLabelling] = useState(false);
  const [exporting, setExporting] = useState(false);
  const told = [
    counted(line.steps, "step") + (line.failed_steps ? `, ${line.failed_steps} failed` : ""),
    duration(line.duration),
    line.tokens.input + line.tokens.output > 0 &&
      `${count(line.tokens.input)} tokens in, ${count(line.tokens.output)} out`,
    line.cost !== null && line.cost > 0 && money(line.cost),
    line.models.join(", "),
    whenExactly(line.started),
  ].filter(Boolean);
  return (
    <header className="head">
      <div className="title">
        <h1 className="clip">{titled(line)}</h1>
        <Status of={line.status} live={line.live} />
        <Origin of={line.origin} />
        {titled(line) !== line.id && <code className="quiet">{line.id}</code>}
        {line.tags.map((tag) => (
          <Link key={tag} to={`/?q=${encodeURIComponent(`tag:${tag}`)}`} className="badge tag">
            #{tag}
          </Link>
        ))}
        {line.parent && (
          <span className="quiet">
            {line.parent.how} of{" "}
            <Link to={`/r/${line.parent.id}${line.parent.step ? `/${line.parent.step}` : ""}`}>
              {line.parent.id}
            </Link>
            {line.parent.step ? ` at step ${line.parent.step}` : ""}
          </span>
        )}
        <nav className="ways" aria-label="From here">
          {line.live && (
            <button type="button" className="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
              {follow ? "Following" : "Follow"}
            </button>
          )}
          {line.browser_sessions.map((session) => (
            <Link key={session.number} to={`/r/${line.id}/session/${session.number}`} className="button">
              Session {line.browser_sessions.length > 1 ? session.number : ""}
            </Link>
          ))}
          <Link
            to={line.parent ? `/compare/${line.parent.id}/${line.id}` : `/compare?a=${line.id}`}
            className="button"
          >
            Compare
          </Link>
          <Link to={`/debug/${line.id}`} className="button">
            Debug
          </Link>
          <button type="button" className="button" aria-haspopup="dialog" onClick={() => setLabelling(true)}>
            Label
          </button>
          <button type="button" className="button" aria-haspopup="dialog" onClick={() => setExporting(true)}>
            Export
          </button>
          <button
            type="button"
            className="button primary"
            disabled={under}
            title="Replay it here: the same code, with the recorded answers"
            onClick={() => begin({ kind: "reproduce", recording: line.id, options: { times: 1 } })}
          >
            {under ? "Starting …" : "Run again"}
          </button>
          <button type="button" className="button" aria-haspopup="dialog" onClick={more}>
            More
          </button>
        </nav>
      </div>
      {labelling && <LabelDialog line={line} close={() => setLabelling(false)} />}
      {exporting && <ExportDialog line={line} close={() => setExporting(false)} />}
      <p className="quiet told clip">{told.join(" · ")}</p>
      {line.note && (
        <p className="words recorded person-note">
          <span className="quiet">Note: </span>
          {line.note}
        </p>
      )}
      {line.prompt && (
        <p className="words recorded prompt">
          <span className="unseen">Prompt: </span>
          {line.prompt}
        </p>
      )}
      {line.outcome && (
        <p className={`words recorded ${line.problem ? "problem" : "outcome"}`}>
          <span className="quiet" aria-hidden>
            →{" "}
          </span>
          <span className="unseen">Outcome: </span>
          {line.outcome}
        </p>
      )}
      {line.notes.map((note) => (
        <p key={note} className="quiet note">
          {note}
        </p>
      ))}
    </header>
  );
}
