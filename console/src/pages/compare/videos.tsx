/** Both runs' browser sessions beside each other, where they have some. */

import { useQueries } from "@tanstack/react-query";
import { Link } from "wouter";
import { get, path } from "../../client";
import type { Whole } from "../../model";

export function Videos({ a, b }: { a: string; b: string }) {
  const both = useQueries({
    queries: [a, b].map((id) => ({
      queryKey: ["recording", id],
      queryFn: ({ signal }: { signal: AbortSignal }) => get<Whole>(path("recordings", id), {}, signal),
    })),
  });
  const shown = both.flatMap(({ data }) => (data && data.browser_sessions.length > 0 ? [data] : []));
  if (shown.length === 0) return null;
  return (
    <section className="videos" aria-label="Browser sessions">
      {shown.map((line) => (
        <Link
          key={line.id}
          to={`/r/${line.id}/session/${line.browser_sessions[0]?.number ?? 1}`}
          className="button"
        >
          Session of {line.name || line.id}
        </Link>
      ))}
    </section>
  );
}
