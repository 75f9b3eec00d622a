/** Both runs' browser sessions beside each other, where they have some. */

import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { get, path } from "../../client";
import { fetched } from "../../fetched";
import { titled } from "../../format";
import type { Pair, Whole } from "../../model";

const VideoPair = fetched(() => import("../../parts/video-pair"));

export function Videos({
  a,
  b,
  pairs,
  parting,
}: {
  a: string;
  b: string;
  pairs: readonly Pair[];
  /** The place of the first difference among the pairs, or -1. */
  parting: number;
}) {
  const [open, setOpen] = useState(true);
  const both = useQueries({
    queries: [a, b].map((id) => ({
      queryKey: ["recording", id],
      queryFn: ({ signal }: { signal: AbortSignal }) => get<Whole>(path("recordings", id), {}, signal),
    })),
  });
  const shown = both.flatMap(({ data }) => (data && data.browser_sessions.length > 0 ? [data] : []));
  if (shown.length === 0) return null;
  const [one, other] = shown.map((line) => ({
    id: line.id,
    session: line.browser_sessions[0]?.number ?? 1,
  }));
  return (
    <section className="videos" aria-label="Browser sessions">
      {one && other && (
        <button type="button" className="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide the sessions" : "Watch both sessions"}
        </button>
      )}
      {shown.map((line) => (
        <Link
          key={line.id}
          to={`/r/${line.id}/session/${line.browser_sessions[0]?.number ?? 1}`}
          className="button"
        >
          Session of {titled(line)}
        </Link>
      ))}
      {one && other && open && <VideoPair a={one} b={other} pairs={pairs} parting={parting} />}
    </section>
  );
}
