/** The steps of a session as a strip of small pictures, each with the page as the step left it. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { API, path } from "../../client";
import { lastAt } from "./time";
import { type Film, type FilmStep, failed } from "./types";

/** Pixels of a picture across, and of its place in the strip. */
const WIDE = 112;
const PLACE = WIDE + 8;

export function Filmstrip({
  film,
  steps,
  current,
  choose,
}: {
  film: Film;
  steps: readonly FilmStep[];
  current: FilmStep | null;
  choose: (step: FilmStep) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const scenes = useMemo(() => steps.map((_, place) => sceneOf(film, steps, place)), [film, steps]);
  const at = current ? steps.indexOf(current) : -1;
  const places = useVirtualizer({
    count: steps.length,
    getScrollElement: () => box.current,
    estimateSize: () => PLACE,
    horizontal: true,
    overscan: 4,
  });
  useEffect(() => {
    if (at >= 0) places.scrollToIndex(at, { align: "auto" });
  }, [at, places]);
  if (film.scenes.length === 0 || steps.length < 2) return null;
  const where = `${API}${path("recordings", film.recording, "sessions", film.session, "frames")}`;
  return (
    // The list of steps has the keys and the names: the strip is the same once more, in pictures.
    <div ref={box} className="filmstrip" aria-hidden>
      <div style={{ width: places.getTotalSize() }}>
        {places.getVirtualItems().map(({ index, start }) => {
          const step = steps[index];
          const scene = scenes[index];
          return (
            step && (
              // biome-ignore lint/a11y/noStaticElementInteractions: the list of steps has the keys
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list of steps has the keys
              <div
                key={step.call}
                className={`thumbnail ${index === at ? "here" : ""} ${failed(step) ? "bad" : ""}`}
                style={{ transform: `translateX(${start}px)`, width: WIDE }}
                title={step.title}
                onClick={() => choose(step)}
              >
                {scene === undefined ? (
                  <span className="blank" />
                ) : (
                  <img
                    src={`${where}?at=${Math.ceil(scene * 1000)}&width=${2 * WIDE}`}
                    alt=""
                    draggable={false}
                  />
                )}
                <span className="number">{step.n ?? ""}</span>
                <span className="clip">{step.title}</span>
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

/** The time of the last picture before the next step begins; before the first picture, undefined. */
function sceneOf(film: Film, steps: readonly FilmStep[], place: number): number | undefined {
  const step = steps[place];
  if (!step) return undefined;
  const next = steps.slice(place + 1).find((other) => other.t > step.t);
  const until = next ? Math.max(next.t - 0.001, step.end ?? step.t) : film.duration;
  return film.scenes[lastAt(film.scenes, until, (t) => t)];
}
