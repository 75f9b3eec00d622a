/** The field for the filter: it searches while one types, and shows where a filter cannot be read. */

import { type RefObject, useEffect, useId, useState } from "react";

export function Search({
  field,
  value,
  change,
  error,
  done,
}: {
  field: RefObject<HTMLInputElement | null>;
  value: string;
  change: (filter: string) => void;
  error: Error | null;
  done: () => void;
}) {
  const [text, setText] = useState(value);
  const id = useId();
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const soon = window.setTimeout(() => change(text), 120);
    return () => window.clearTimeout(soon);
  });
  const column = Number(/column (\d+)/.exec(error?.message ?? "")?.[1] ?? 0);
  const wrong = column > 0 ? (error?.message.replace(/^.*column \d+:\s*/s, "").split("\n")[0] ?? "") : "";
  return (
    <search className="search">
      <input
        ref={field}
        className="field mono"
        type="search"
        aria-label="Search by filter"
        aria-invalid={wrong !== ""}
        aria-describedby={wrong ? id : undefined}
        placeholder="Search: refund, or a filter: tool:cancel_* error, model and tokens > 4000, tag:staging"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") change(text);
          if (event.key === "Enter" || event.key === "Escape") {
            event.preventDefault();
            done();
          }
        }}
      />
      {wrong && (
        <p className="wrong mono" id={id} role="alert">
          <span aria-hidden style={{ paddingLeft: `min(${column - 1}ch, 50%)` }}>
            ▲
          </span>{" "}
          <span>{wrong}</span> <span className="unseen">at column {column}</span>
        </p>
      )}
    </search>
  );
}
