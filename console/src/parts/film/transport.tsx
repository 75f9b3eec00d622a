/** Playing: the slider with the steps as marks on it, the clock, speed. */

import Pause from "lucide-react/dist/esm/icons/pause.mjs";
import Play from "lucide-react/dist/esm/icons/play.mjs";
import Previous from "lucide-react/dist/esm/icons/skip-back.mjs";
import Next from "lucide-react/dist/esm/icons/skip-forward.mjs";
import type { ReactNode } from "react";
import { type Clock, clockText, useClock } from "./time";

export interface Mark {
  at: number;
  bad: boolean;
}

export const SPEEDS = [0.5, 1, 2, 4];

export function Transport({
  clock,
  marks,
  step,
  seek = (t) => clock.seek(t),
  children,
}: {
  clock: Clock;
  marks: readonly Mark[];
  step: (by: 1 | -1) => void;
  seek?: (t: number) => void;
  children?: ReactNode;
}) {
  const playing = useClock(clock, (one) => one.playing);
  const now = useClock(clock, (one) => Math.round(one.now * 20) / 20);
  const duration = useClock(clock, (one) => one.duration);
  const speed = useClock(clock, (one) => one.speed);
  const skipping = useClock(clock, (one) => one.skipping);
  return (
    <section className="transport" aria-label="Playing">
      <button type="button" className="button" aria-label="Previous step" onClick={() => step(-1)}>
        <Previous aria-hidden />
      </button>
      <button
        type="button"
        className="button primary"
        aria-label={playing ? "Pause" : "Play"}
        onClick={() => clock.toggle()}
      >
        {playing ? <Pause aria-hidden /> : <Play aria-hidden />}
      </button>
      <button type="button" className="button" aria-label="Next step" onClick={() => step(1)}>
        <Next aria-hidden />
      </button>
      <div className="track">
        <svg className="marks" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
          {marks.map((mark) => (
            <rect
              key={mark.at}
              className={mark.bad ? "bad" : ""}
              x={duration ? (mark.at / duration) * 996 : 0}
              y={mark.bad ? 1 : 5}
              width={3}
              height={mark.bad ? 18 : 10}
            />
          ))}
        </svg>
        <input
          type="range"
          min={0}
          max={duration}
          step={0.01}
          value={now}
          aria-label="Time"
          aria-valuetext={clockText(now)}
          onChange={(event) => seek(Number(event.target.value))}
        />
      </div>
      <output className="clock mono" aria-live="off">
        {clockText(now)} / {clockText(duration)}
      </output>
      <label>
        <span className="unseen">Speed</span>
        <select
          className="field"
          value={speed}
          onChange={(event) => clock.set({ speed: Number(event.target.value) })}
        >
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="button"
        aria-pressed={skipping}
        onClick={() => clock.set({ skipping: !skipping })}
      >
        Skip idle
      </button>
      {children}
    </section>
  );
}

/** Another speed, one slower or faster. */
export function faster(clock: Clock, by: 1 | -1): void {
  const place = Math.min(Math.max(SPEEDS.indexOf(clock.speed) + by, 0), SPEEDS.length - 1);
  clock.set({ speed: SPEEDS[place] ?? 1 });
}
