/** The screen of a session: its tabs and address, the video or the pictures, the ring on what is acted upon, and cards. */

import { useEffect, useMemo, useRef, useState } from "react";
import { API, path } from "../../client";
import { type Clock, Line, lastAt, useClock } from "./time";
import type { Film, FilmStep, Frame, SessionVideo } from "./types";

const AFTERGLOW = 0.6;
const CARD = 3;
const DRIFT = 0.3;

interface Props {
  film: Film;
  clock: Clock;
  /** The session's own time at a moment of the clock, and back. Alone they are the same. */
  line?: Line;
  video: SessionVideo | null;
  frames?: readonly Frame[];
  rings: boolean;
  label?: string;
}

const SAME = new Line([
  [0, 0],
  [1e9, 1e9],
]);

export function Stage({ film, clock, line = SAME, video, frames, rings, label = "" }: Props) {
  const time = (one: Clock) => line.at(one.now);
  const place = useClock(clock, (one) =>
    Math.max(
      0,
      lastAt(film.places, time(one), (each) => each.t),
    ),
  );
  const cards = useClock(clock, (one) =>
    film.console
      .filter((item) => item.card && item.t <= time(one) && time(one) < item.t + CARD)
      .map((item) => item.text)
      .join("\n"),
  );
  const shown = film.places[place];
  const front = shown?.tabs.find((tab) => tab.tab === shown.front);
  const named = label ? `Screen of ${label}` : "Screen";
  return (
    <article className="stage" aria-label={named}>
      <div className="stage-tabs" aria-hidden>
        {shown?.tabs.map((tab) => (
          <span key={tab.tab} className={tab === front ? "front clip" : "clip"} title={tab.title || tab.url}>
            {tab.title || tab.url || "new tab"}
          </span>
        ))}
      </div>
      {/* An address that was recorded is told, never followed: it is text. */}
      <p className="stage-url">
        {label && <b className="side">{label}</b>}
        <span className="mono clip" title={front?.url}>
          {front ? front.url || "about:blank" : "no tab"}
        </span>
      </p>
      <div className="screen">
        {video ? (
          <Player clock={clock} line={line} video={video} named={named} />
        ) : (
          <Pictures film={film} clock={clock} line={line} frames={frames ?? []} named={named} />
        )}
        {!video && rings && <Ring film={film} clock={clock} line={line} />}
        <div className="cards" aria-live="polite">
          {cards
            .split("\n")
            .filter(Boolean)
            .map((text) => (
              <p key={text}>{text}</p>
            ))}
        </div>
      </div>
    </article>
  );
}

/** Plays the video, kept to the clock. */
function Player({
  clock,
  line,
  video,
  named,
}: {
  clock: Clock;
  line: Line;
  video: SessionVideo;
  named: string;
}) {
  const place = useRef<HTMLVideoElement>(null);
  const map = useMemo(
    () => new Line(video.segments.map(([one, other]) => [one / 1000, other / 1000] as const)),
    [video.segments],
  );
  useEffect(() => {
    let last = -1;
    const show = () => {
      const player = place.current;
      if (!player) return;
      const t = line.at(clock.now);
      const wanted = map.back(t);
      // A side that waits for the other stands still though the clock runs.
      const still = !clock.playing || t === last;
      last = t;
      if (still) {
        if (!player.paused) player.pause();
        if (Math.abs(player.currentTime - wanted) > 0.02) player.currentTime = wanted;
        return;
      }
      player.playbackRate = clock.speed;
      if (Math.abs(player.currentTime - wanted) > DRIFT * clock.speed) player.currentTime = wanted;
      if (player.paused) player.play().catch(() => {});
    };
    show();
    return clock.subscribe(show);
  }, [clock, line, map]);
  return (
    <video
      ref={place}
      src={video.url}
      width={video.width}
      height={video.height}
      muted
      playsInline
      preload="auto"
      tabIndex={-1}
      aria-label={named}
    />
  );
}

/** Shows the picture of the moment: of those that came while it was watched, else the server's. */
function Pictures({
  film,
  clock,
  line,
  frames,
  named,
}: {
  film: Film;
  clock: Clock;
  line: Line;
  frames: readonly Frame[];
  named: string;
}) {
  const source = useClock(clock, (one) => sourceAt(film, frames, line.at(one.now)));
  const [gone, setGone] = useState("");
  const [width, height] = film.viewport;
  if (!source || gone === source) {
    return (
      <div className="blank" style={{ aspectRatio: `${width} / ${height}` }}>
        <p className="quiet">{source ? "This picture is missing." : "Nothing was visible yet."}</p>
      </div>
    );
  }
  return <img src={source} width={width} height={height} alt={named} onError={() => setGone(source)} />;
}

function sourceAt(film: Film, frames: readonly Frame[], t: number): string {
  const scene = film.scenes[lastAt(film.scenes, t + 0.0005, (each) => each)];
  const frame = frames[lastAt(frames, t + 0.0005, (each) => each.t)];
  if (frame && (scene === undefined || frame.t >= scene - 0.01))
    return `data:image/jpeg;base64,${frame.jpeg}`;
  if (scene === undefined) return "";
  const where = path("recordings", film.recording, "sessions", film.session, "frames");
  return `${API}${where}?at=${Math.ceil(scene * 1000)}`;
}

function Ring({ film, clock, line }: { film: Film; clock: Clock; line: Line }) {
  const acts = useMemo(() => film.steps.filter((step) => step.target?.box), [film.steps]);
  const lit = useClock(clock, (one): FilmStep | null => {
    const t = line.at(one.now);
    const step = acts[lastAt(acts, t, (each) => each.t)];
    return step && t <= (step.end === null ? Number.POSITIVE_INFINITY : step.end + AFTERGLOW) ? step : null;
  });
  const box = lit?.target?.box;
  if (!box) return null;
  const [x, y, width, height] = box;
  const shape = { x: x - 4, y: y - 4, width: width + 8, height: height + 8, rx: 6 };
  const point = lit.target?.point;
  return (
    <svg className="ring" viewBox={`0 0 ${film.viewport.join(" ")}`} aria-hidden="true">
      <rect className="under" {...shape} />
      <rect className={lit.status === "failed" ? "line bad" : "line"} {...shape} />
      {point && <circle className="line" cx={point[0]} cy={point[1]} r={6} />}
    </svg>
  );
}
