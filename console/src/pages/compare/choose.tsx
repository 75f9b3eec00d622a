/** Choose two recordings by clicking: the newest ones, or those that a search finds. */

import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { get } from "../../client";
import { sought, unfinished } from "../../filter";
import { counted, titled, when, whenExactly } from "../../format";
import type { Line, Recordings } from "../../model";
import { useTitle } from "../../shell";
import { Failure, Nothing, Status } from "../../ui";
import { useWhole } from "../recording/data";

/** The recordings that are listed; a search finds the others. */
const SHOWN = 50;

export function Choose() {
  useTitle("Compare");
  const [, go] = useLocation();
  const [words, setWords] = useSearchParams();
  const [wanted, setWanted] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const first = words.get("a") ?? "";
  const found = useQuery({
    queryKey: ["recordings", "choose", wanted],
    queryFn: ({ signal }) =>
      get<Recordings>("/recordings", { filter: sought(wanted), limit: SHOWN, sort: "started" }, signal),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => unfinished(state.data),
  });
  const choose = (id: string) => {
    if (first && first !== id) go(`/compare/${encodeURIComponent(first)}/${encodeURIComponent(id)}`);
    else setWords(first ? {} : { a: id }, { replace: true });
    field.current?.focus();
  };
  const lines = found.data?.items ?? [];
  return (
    <div className="choose page">
      <h1>Compare two recordings</h1>
      <p className="chosen" role="status">
        <span className="letter" aria-hidden>
          A
        </span>
        {first ? <First id={first} /> : <span className="quiet">Choose the first recording.</span>}
        {first && (
          <button type="button" className="button" onClick={() => setWords({}, { replace: true })}>
            Choose another
          </button>
        )}
      </p>
      {first && (
        <p className="chosen">
          <span className="letter" aria-hidden>
            B
          </span>
          <span className="quiet">Choose the recording to compare it with.</span>
        </p>
      )}
      <input
        ref={field}
        type="search"
        className="field"
        placeholder="Search by a word or a filter"
        aria-label="Search recordings"
        spellCheck={false}
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      {found.error && <Failure error={found.error} />}
      {found.data?.complete === false && lines.length === 0 && (
        <Nothing title="Reading recordings…" heading="h2" />
      )}
      {found.data?.complete && lines.length === 0 && (
        <Nothing title={wanted ? "No recordings match" : "No recordings yet"} heading="h2" />
      )}
      <ul className="candidates" aria-label={first ? "Recordings to compare with" : "Recordings"}>
        {lines
          .filter((line) => line.id !== first)
          .map((line) => (
            <li key={line.id}>
              <Candidate line={line} choose={() => choose(line.id)} />
            </li>
          ))}
      </ul>
      {found.data && found.data.total > lines.length && (
        <p className="quiet">
          {lines.length} of {counted(found.data.total, "recording")}; search for the others.
        </p>
      )}
    </div>
  );
}

function First({ id }: { id: string }) {
  const line = useWhole(id).data;
  return (
    <>
      <Link to={`/r/${id}`} className="clip">
        {line ? titled(line) : id}
      </Link>
      {line && <Status of={line.status} />}
    </>
  );
}

function Candidate({ line, choose }: { line: Line; choose: () => void }) {
  return (
    <button type="button" className="candidate" onClick={choose}>
      <Status of={line.status} live={line.live} />
      <span className="named">
        <b className="clip">{titled(line)}</b>
        {titled(line) !== line.id && <span className="mono quiet">{line.id}</span>}
        {line.parent && <span className="badge">{line.parent.how}</span>}
      </span>
      <span className="clip quiet words">{[line.prompt, line.outcome].filter(Boolean).join(" → ")}</span>
      <span className="quiet">{counted(line.steps, "step")}</span>
      <span className="quiet" title={whenExactly(line.started)}>
        {when(line.started)}
      </span>
    </button>
  );
}
