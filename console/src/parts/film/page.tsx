/** The page itself at the moment of the clock: to select in it, and to try selectors on it. */

import { useEffect, useRef, useState } from "react";
import { type Moment, MomentView } from "../../../../src/reenact/browser/watch/moment.js";
import { API, get, path } from "../../client";
import { type Clock, clockText, lastAt, useClock } from "./time";
import type { Film } from "./types";
import "../../../../src/reenact/browser/watch/moment.css";

/** Playwright's code for selectors; null where the server has none. */
async function engine(): Promise<unknown> {
  try {
    return ((await import(/* @vite-ignore */ `${API}/selectors.js`)) as { default: unknown }).default;
  } catch {
    return null;
  }
}

export function PageItself({ film, clock }: { film: Film; clock: Clock }) {
  const place = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<MomentView | null>(null);
  useEffect(() => {
    let gone = false;
    void engine().then((found) => {
      if (gone) return;
      const made = new MomentView(found);
      place.current?.replaceChildren(made.element);
      setView(made);
    });
    return () => {
      gone = true;
    };
  }, []);
  const at = useClock(clock, (one) => momentAt(film, one.now));
  const late = useClock(clock, (one) => (film.moments[at]?.t ?? 0) > one.now);
  useEffect(() => {
    const now = film.moments[at];
    const where = path("recordings", film.recording, "sessions", film.session);
    void view?.show(
      now ? `${film.recording} ${film.session} ${now.page}` : null,
      () => get<Moment>(`${where}/pages/${now?.page}`, {}),
      now ? `${late ? "first kept at" : "as at"} ${clockText(now.t)}` : "",
    );
  }, [view, film.moments, film.recording, film.session, at, late]);
  return <div ref={place} />;
}

/** The moment that is shown: the last one of the tab in front, or else its first one; -1 without any. */
function momentAt(film: Film, t: number): number {
  const front =
    film.places[
      Math.max(
        0,
        lastAt(film.places, t, (each) => each.t),
      )
    ]?.front;
  let found = -1;
  for (const [place, each] of film.moments.entries()) {
    if (front !== undefined && each.tab !== front) continue;
    if (found >= 0 && each.t > t) break;
    found = place;
  }
  return found;
}
