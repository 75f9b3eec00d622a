/** Two browser sessions beside each other, in step: one clock plays both, and who is done first waits. */

import { useEffect, useMemo, useState } from "react";
import { useKeys } from "../keys";
import type { Pair } from "../model";
import { Failure } from "../ui";
import { Stage } from "./film/stage";
import { Clock, lastAt, together, useClock } from "./film/time";
import { Transport } from "./film/transport";
import { type Film, failed } from "./film/types";
import { busyOf, settled, useFilm, useVideo } from "./film/use-film";
import "./film/film.css";

interface Props {
  a: { id: string; session: number };
  b: { id: string; session: number };
  /** How their steps go together, as the comparison says it. */
  pairs: readonly Pair[];
  /** The place of the first difference among the pairs, or -1. */
  parting: number;
}

export default function VideoPair({ a, b, pairs, parting }: Props) {
  const one = useFilm(a.id, a.session);
  const other = useFilm(b.id, b.session);
  const error = one.error ?? other.error;
  if (error) return <Failure error={error} />;
  if (!one.data || !other.data) return null;
  return <Two films={[one.data, other.data]} pairs={pairs} parting={parting} />;
}

function Two({ films, pairs, parting }: { films: [Film, Film]; pairs: readonly Pair[]; parting: number }) {
  const [clock] = useState(() => new Clock());
  const videos = [useVideo(films[0]).video, useVideo(films[1]).video];
  const joined = useMemo(() => join(films, pairs, parting), [films, pairs, parting]);
  useEffect(() => {
    const busy = films.flatMap((film, side) => busyOf(film).map((t) => joined.lines[side]?.back(t) ?? t));
    clock.span(
      joined.duration,
      busy.sort((x, y) => x - y),
    );
    clock.stop = joined.first;
    // It opens where both show their first page, and before the first difference.
    const opening = films.map((film, side) => joined.lines[side]?.back(settled(film)) ?? 0);
    if (clock.now === 0) clock.seek(Math.max(0, Math.min(...opening, (joined.first ?? Infinity) - 0.01)));
  }, [clock, films, joined]);
  const place = useClock(clock, (now) =>
    Math.max(
      0,
      lastAt(joined.starts, now.now + 1e-9, (t) => t),
    ),
  );
  const parted = useClock(clock, (now) => joined.first !== null && now.now === joined.first);
  const toFirst = () => {
    if (joined.first === null) return;
    clock.pause();
    clock.seek(joined.first);
  };
  const step = (by: 1 | -1) => {
    const to = joined.starts[place + by];
    if (to !== undefined) clock.seek(to);
  };
  useKeys("Both sessions", {
    " ": { does: "Play or pause both", run: () => clock.toggle() },
    ArrowLeft: { does: "A second back", run: () => clock.seek(clock.now - 1) },
    ArrowRight: { does: "A second forward", run: () => clock.seek(clock.now + 1) },
    ",": { does: "Previous step", run: () => step(-1) },
    ".": { does: "To the next step", run: () => step(1) },
    d: { does: "To the first difference", run: toFirst },
  });
  const rows = joined.rows[place];
  return (
    <section className="video-pair" aria-label="Both sessions, in step">
      <div className="both-stages">
        {films.map((film, side) => (
          <div key={side === 0 ? "a" : "b"}>
            <Stage
              film={film}
              clock={clock}
              line={joined.lines[side as 0 | 1]}
              video={videos[side] ?? null}
              rings
              label={side === 0 ? "A" : "B"}
            />
            <p className="doing clip">{titleOf(film, rows?.[side as 0 | 1] ?? null)}</p>
          </div>
        ))}
      </div>
      <Transport clock={clock} marks={joined.marks} step={step}>
        {joined.first !== null && (
          <button type="button" className="button" aria-keyshortcuts="d" onClick={toFirst}>
            First difference
          </button>
        )}
      </Transport>
      <p className="parted" role="status">
        {parted && "The first difference: from here the two runs differ."}
      </p>
    </section>
  );
}

function titleOf(film: Film, place: number | null): string {
  const row = place === null ? undefined : film.steps[place];
  return row ? `${row.n ?? ""} ${row.title}` : "has no such step";
}

/** The comparison's pairs as places among the steps of both films, and one clock for them. */
function join(films: [Film, Film], pairs: readonly Pair[], parting: number) {
  const places = films.map((film) => new Map(film.steps.map((step, place) => [step.n, place])));
  const known = pairs
    .map(({ a, b }, pair) => ({
      pair,
      row: [a ? (places[0]?.get(a.step) ?? null) : null, b ? (places[1]?.get(b.step) ?? null) : null] as [
        number | null,
        number | null,
      ],
    }))
    .filter(({ row: [a, b] }) => a !== null || b !== null);
  const rows = known.map(({ row }) => row);
  const timed = (film: Film) => ({ duration: film.duration, times: film.steps.map((step) => step.t) });
  const clocked = together([timed(films[0]), timed(films[1])], rows);
  const marks = rows.map((places, at) => ({
    at: clocked.starts[at] ?? 0,
    bad: places.some((row, side) => {
      const step = row === null ? undefined : films[side]?.steps[row];
      return step !== undefined && failed(step);
    }),
  }));
  // A difference outside of the session is seen at the session's next step.
  const differs = parting < 0 ? -1 : known.findIndex(({ pair }) => pair >= parting);
  return { ...clocked, rows, marks, first: differs < 0 ? null : (clocked.starts[differs] ?? null) };
}
