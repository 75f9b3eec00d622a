/** One recording in the list. */

import { memo } from "react";
import { Link } from "wouter";
import { count, counted, duration, money, titled, when, whenExactly } from "../../format";
import type { Line } from "../../model";
import { Origin, Status } from "../../ui";

export const RecordingRow = memo(Inner, (before, after) => {
  const names = ["line", "here", "top", "height", "chosen", "open"] as const;
  return names.every((name) =>
    name === "chosen" ? before.chosen.join() === after.chosen.join() : before[name] === after[name],
  );
});

function Inner({
  id,
  place,
  top,
  height,
  line,
  here,
  chosen,
  choose,
  narrow,
  point,
  open,
}: {
  id: string;
  place: number;
  top: number;
  height: number;
  line: Line | undefined;
  here: boolean;
  chosen: string[];
  choose: (id: string) => void;
  narrow: (term: string) => void;
  point: () => void;
  open: (line: Line) => void;
}) {
  const picked = line !== undefined && chosen.includes(line.id);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    <div
      id={id}
      role="row"
      tabIndex={-1}
      aria-rowindex={place + 2}
      aria-selected={picked}
      className={`row ${here ? "here" : ""}`}
      style={{ transform: `translateY(${top}px)`, height }}
      onMouseDown={point}
      onClick={(event) => {
        const own = event.target instanceof Element && event.target.closest("a, button, input");
        if (line && !own && !window.getSelection()?.toString()) open(line);
      }}
    >
      {line ? (
        <Cells line={line} picked={picked} choose={choose} narrow={narrow} />
      ) : (
        <div role="gridcell" className="quiet">
          …
        </div>
      )}
    </div>
  );
}

/** How many tags a line has room for. */
const TAGS = 3;

function Cells({
  line,
  picked,
  choose,
  narrow,
}: {
  line: Line;
  picked: boolean;
  choose: (id: string) => void;
  narrow: (term: string) => void;
}) {
  const spent = line.tokens.input + line.tokens.output;
  return (
    <>
      <div role="gridcell" className="pick">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Choose ${line.id} to compare`}
          checked={picked}
          onChange={() => choose(line.id)}
        />
      </div>
      <div role="gridcell" className="state">
        <Status of={line.status} live={line.live} />
        {line.pills.map((rule) => (
          <span key={rule} className="badge warn odd" title={rule}>
            {rule}
          </span>
        ))}
        {line.anomalies && line.pills.length === 0 ? (
          <span className="quiet notes">{counted(line.anomalies, "anomaly", "anomalies")}</span>
        ) : null}
      </div>
      <div role="gridcell" className="agent">
        <div className="named">
          <Link to={`/r/${line.id}`} tabIndex={-1} className="name" title={titled(line)}>
            {titled(line)}
          </Link>
        </div>
        <div className="marks">
          {titled(line) !== line.id && <span className="mono quiet id">{line.id}</span>}
          {line.parent && (
            <span className="badge" title={`${line.parent.how} of ${line.parent.id}`}>
              {line.parent.how}
            </span>
          )}
          <Origin of={line.origin} />
          <span className="tags" title={line.tags.join(", ") || undefined}>
            {line.tags.slice(0, TAGS).map((tag) => (
              <button
                key={tag}
                type="button"
                tabIndex={-1}
                className="badge tag"
                onClick={() => narrow(`tag:${tag}`)}
              >
                #{tag}
              </button>
            ))}
            {line.tags.length > TAGS && (
              <span className="badge" title={line.tags.slice(TAGS).join(", ")}>
                +{line.tags.length - TAGS}
              </span>
            )}
          </span>
        </div>
      </div>
      <div role="gridcell" className="prompt words" title={line.note ?? line.prompt ?? undefined}>
        {line.note && <span className="badge note">{line.note}</span>}
        {line.prompt ?? ""}
      </div>
      <div
        role="gridcell"
        className={line.problem ? "outcome words problem" : "outcome words"}
        title={line.outcome ?? undefined}
      >
        {line.outcome ?? ""}
      </div>
      <div role="gridcell" className="model quiet words" title={line.models.join(", ")}>
        {line.models.join(", ")}
      </div>
      <div role="gridcell" className="number steps">
        {count(line.steps)}
        <span className="unit"> {line.steps === 1 ? "step" : "steps"}</span>
        {line.failed_steps > 0 && <span className="failed"> {line.failed_steps} failed</span>}
      </div>
      <div role="gridcell" className="number tokens">
        {spent > 0 && count(spent)}
      </div>
      <div role="gridcell" className="number cost">
        {line.cost ? money(line.cost) : ""}
      </div>
      <div role="gridcell" className="number took">
        {duration(line.duration)}
      </div>
      <div role="gridcell" className="number when" title={whenExactly(line.started)}>
        {when(line.started)}
      </div>
    </>
  );
}
