/** A browser session: its screen, steps, network, console and tree move together; live while it goes on. */

import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useParams, useSearch } from "wouter";
import { counted, whenExactly } from "../format";
import { useKeys } from "../keys";
import { Filmstrip } from "../parts/film/filmstrip";
import { PANES, type Pane, Panes } from "../parts/film/panes";
import { Stage } from "../parts/film/stage";
import { StepList } from "../parts/film/steps";
import { Clock, lastAt, useClock } from "../parts/film/time";
import { faster, Transport } from "../parts/film/transport";
import { type Film, type FilmStep, failed } from "../parts/film/types";
import { busyOf, settled, useFilm, useLive, useVideo } from "../parts/film/use-film";
import { useTitle } from "../shell";
import { Failed, Nothing, Reading, Status } from "../ui";
import "../parts/film/film.css";

type Kinds = "actions" | "all" | "failed";

export default function Session() {
  const { id = "", number = "1" } = useParams();
  const film = useFilm(id, Number(number));
  useTitle(film.data ? `${film.data.name || id}, session ${number}` : `Session ${number}`);
  if (film.error) return <Failed title={`Session ${number}`} error={film.error} />;
  if (!film.data) return <Reading title={`Session ${number}`} />;
  if (!film.data.steps.length && !film.data.scenes.length && film.data.over) {
    return <Nothing title="This session has no pictures" />;
  }
  return <Watch key={`${id} ${number}`} film={film.data} />;
}

function Watch({ film }: { film: Film }) {
  const [clock] = useState(() => new Clock());
  const [pane, setPane] = useState<Pane>("step");
  const [rings, setRings] = useState(true);
  const [wanted, setWanted] = useState("");
  const [kinds, setKinds] = useState<Kinds>(() => (film.steps.some((step) => step.acts) ? "actions" : "all"));
  const { video, making } = useVideo(film);
  const { frames, edge } = useLive(film);
  const live = !film.over;
  const [following, setFollowing] = useState(live);
  const search = useRef<HTMLInputElement>(null);

  const busy = useMemo(() => busyOf(film), [film]);
  const duration = Math.max(film.duration, live ? edge : 0);
  useEffect(() => clock.span(duration, busy), [clock, duration, busy]);
  useEffect(() => {
    if (live && following) clock.seek(duration);
  }, [clock, live, following, duration]);

  // A session opens at the first settled picture: before it there is an empty page.
  const opening = useMemo(() => settled(film), [film]);
  const opened = useRef(false);
  useEffect(() => {
    if (opened.current || live || new URLSearchParams(window.location.search).has("step")) return;
    opened.current = true;
    clock.seek(opening);
  }, [clock, live, opening]);

  const base = useMemo(
    () => (kinds === "all" ? film.steps : film.steps.filter((step) => step.acts)),
    [film.steps, kinds],
  );
  const shown = useMemo(
    () => base.filter((step) => (kinds !== "failed" || failed(step)) && says(step, wanted)),
    [base, kinds, wanted],
  );
  // The step that was chosen, while the clock stands at it; else the last that has begun.
  const [picked, setPicked] = useState<FilmStep | null>(null);
  const place = useClock(clock, (one) =>
    picked && picked.t === one.now
      ? base.findIndex((step) => step.call === picked.call)
      : Math.max(
          0,
          lastAt(base, one.now + 1e-9, (step) => step.t),
        ),
  );
  const current = base[place] ?? null;

  const go = (step: FilmStep | undefined) => {
    if (!step) return;
    setFollowing(false);
    setPicked(step);
    clock.seek(step.t < opening ? opening : step.t);
    if (step.n) window.history.replaceState(null, "", `?step=${step.n}`);
  };
  const by = (to: 1 | -1, meant: (step: FilmStep) => boolean = () => true) => {
    for (let at = place + to; at >= 0 && at < base.length; at += to) {
      const step = base[at];
      if (step && meant(step)) {
        go(step);
        return;
      }
    }
  };
  useLinked(film, kinds, setKinds, go);
  const seek = (t: number) => {
    setFollowing(false);
    clock.seek(t);
  };
  useKeys("Session", {
    " ": {
      does: "Play or pause",
      run: () => {
        setFollowing(false);
        clock.toggle();
      },
    },
    j: { does: "Next step", run: () => by(1) },
    k: { does: "Previous step", run: () => by(-1) },
    ArrowDown: { does: "Next step", run: () => by(1) },
    ArrowUp: { does: "Previous step", run: () => by(-1) },
    n: { does: "Next failed step", run: () => by(1, failed) },
    p: { does: "Previous failed step", run: () => by(-1, failed) },
    ArrowLeft: { does: "A second back", run: () => seek(clock.now - 1) },
    ArrowRight: { does: "A second forward", run: () => seek(clock.now + 1) },
    Home: { does: "To the beginning", run: () => seek(0) },
    End: { does: "To the end; live: to now", run: () => (live ? setFollowing(true) : seek(clock.duration)) },
    "<": { does: "Slower", run: () => faster(clock, -1) },
    ">": { does: "Faster", run: () => faster(clock, 1) },
    "/": { does: "Search the steps", run: () => search.current?.select() },
    a: { does: "All steps, or actions alone", run: () => setKinds(kinds === "all" ? "actions" : "all") },
    s: { does: "Skip periods without changes", run: () => clock.set({ skipping: !clock.skipping }) },
    r: { does: "Ring on the element", run: () => setRings(!rings) },
    ...Object.fromEntries(
      PANES.map((each, at) => [String(at + 1), { does: `Show ${each}`, run: () => setPane(each) }]),
    ),
  });

  return (
    <div className="film">
      <header className="film-head">
        <h1 className="clip">
          <Link to={`/r/${film.recording}`}>{film.name || film.recording}</Link>
        </h1>
        <Status of={film.status} live={live} />
        <span className="quiet clip">
          {[
            film.sessions > 1 ? `session ${film.session} of ${film.sessions}` : "browser session",
            film.browser,
            whenExactly(film.started),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
        <Sessions film={film} />
      </header>
      <div className="film-stage">
        <Stage film={film} clock={clock} video={video} frames={frames} rings={rings} />
        <Transport
          clock={clock}
          marks={base.map((step) => ({ at: step.t, bad: failed(step) }))}
          step={by}
          seek={seek}
        >
          {live && (
            <button
              type="button"
              className={following ? "button live-on" : "button"}
              aria-pressed={following}
              onClick={() => setFollowing(!following)}
            >
              Live
            </button>
          )}
        </Transport>
        {!live && <Filmstrip film={film} steps={base} current={current} choose={go} />}
        {making && (
          <p className="quiet making" role="status">
            Pictures, until the video is made
            {making.progress.total
              ? `: ${Math.round((100 * making.progress.done) / making.progress.total)} %`
              : ""}
          </p>
        )}
      </div>
      <section className="film-steps" aria-label="Steps of the session">
        <div className="finding">
          <input
            ref={search}
            type="search"
            className="field"
            placeholder="Search steps  /"
            aria-label="Search steps"
            value={wanted}
            onChange={(event) => setWanted(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") setWanted("");
              if (event.key === "Enter")
                go(shown.includes(current as FilmStep) ? (current ?? undefined) : shown[0]);
              if (event.key === "Escape" || event.key === "Enter") event.currentTarget.blur();
            }}
          />
          <select
            className="field"
            aria-label="Steps shown"
            value={kinds}
            onChange={(event) => setKinds(event.target.value as Kinds)}
          >
            <option value="actions">Actions</option>
            <option value="all">All steps</option>
            <option value="failed">Failed</option>
          </select>
        </div>
        <StepList steps={shown} current={current} choose={go} />
        <p className="quiet count" role="status">
          {wanted || kinds === "failed"
            ? `${shown.length} of ${counted(base.length, "step")}`
            : counted(shown.length, "step")}
          {film.missing > 0 && `; ${film.missing} pictures are passed over`}
        </p>
      </section>
      <Panes film={film} step={current} clock={clock} pane={pane} choose={setPane} />
    </div>
  );
}

/** The other sessions of the same recording. */
function Sessions({ film }: { film: Film }) {
  if (film.sessions < 2) return null;
  return (
    <nav aria-label="Sessions" className="film-sessions">
      {Array.from({ length: Math.min(film.sessions, 30) }, (_, at) => at + 1).map((number) => (
        <Link
          key={number}
          to={`/r/${film.recording}/session/${number}`}
          aria-current={number === film.session ? "page" : undefined}
        >
          {number}
        </Link>
      ))}
    </nav>
  );
}

/** Go where the address says: `?step=7`, by the number that the recording gives it. */
function useLinked(film: Film, kinds: Kinds, list: (kinds: Kinds) => void, go: (step: FilmStep) => void) {
  const asked = new URLSearchParams(useSearch()).get("step");
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (done || !asked) return;
    setDone(true);
    const step = film.steps.find((each) => String(each.n) === asked);
    if (!step) return;
    if (!step.acts && kinds !== "all") list("all");
    go(step);
  }, [asked, done, film.steps, kinds, list, go]);
}

const texts = new WeakMap<FilmStep, string>();

function says(step: FilmStep, wanted: string): boolean {
  const words = wanted.trim().toLowerCase();
  if (!words) return true;
  let text = texts.get(step);
  if (text === undefined) {
    const { title, name, message, url, fields, said, why, gave } = step;
    text = [title, name, message, url, gave, JSON.stringify([fields, said, why])].join("\n").toLowerCase();
    texts.set(step, text);
  }
  return text.includes(words);
}
