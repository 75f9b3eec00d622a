/** Search within a recording, and the way through what it found. */

import { type RefObject, useEffect, useState } from "react";
import { problem } from "../../ui";

export function Within({
  field,
  q,
  put,
  view,
  marked,
  what,
  here,
  leap,
  error,
  waiting,
  done,
}: {
  field: RefObject<HTMLInputElement | null>;
  q: string;
  put: (name: string, value: string) => void;
  view: "talk" | "steps" | "about";
  marked: number[];
  what: string;
  here: number | null;
  leap: (by: 1 | -1) => void;
  error: Error | null;
  waiting: boolean;
  done: () => void;
}) {
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text === q) return;
    const soon = window.setTimeout(() => put("q", text), 150);
    return () => window.clearTimeout(soon);
  });
  const among = marked.indexOf(here ?? -1);
  const counted = what === "hit" ? ["hit", "hits"] : ["step with anomalies", "steps with anomalies"];
  return (
    <search className="within">
      <div role="group" aria-label="View" className="views">
        <button type="button" aria-pressed={view === "talk"} onClick={() => put("view", "")}>
          Conversation
        </button>
        <button type="button" aria-pressed={view === "steps"} onClick={() => put("view", "steps")}>
          Steps
        </button>
        <button
          type="button"
          className="about-view"
          aria-pressed={view === "about"}
          onClick={() => put("view", "about")}
        >
          About
        </button>
      </div>
      <input
        ref={field}
        type="search"
        className="field"
        aria-label="Search within this recording"
        aria-invalid={error !== null}
        placeholder="Search within"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== "Escape") return;
          event.preventDefault();
          if (event.key === "Escape") done();
          else if (text === q) leap(event.shiftKey ? -1 : 1);
          else put("q", text);
        }}
      />
      {(marked.length > 0 || q) && (
        <span className="through">
          <span className="quiet" role="status">
            {waiting
              ? "…"
              : `${among >= 0 ? `${among + 1} of ` : ""}${marked.length} ${counted[marked.length === 1 ? 0 : 1]}`}
          </span>
          <button
            type="button"
            className="button bare"
            aria-label={`Previous ${what}`}
            disabled={!marked.length}
            onClick={() => leap(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            className="button bare"
            aria-label={`Next ${what}`}
            disabled={!marked.length}
            onClick={() => leap(1)}
          >
            ↓
          </button>
        </span>
      )}
      {error && (
        <p className="wrong" role="alert">
          {problem(error)}
        </p>
      )}
    </search>
  );
}
