/**
 * The run over time, by lanes: what ran beside each other is drawn beside each other. On a canvas, so that ten thousand
 * steps are drawn at once. For who does not see it the list says the same.
 */

import { useEffect, useMemo, useRef, useState } from "react";
import { duration, moment } from "../../format";
import type { Lanes } from "../../model";
import { visible } from "../../visible";

type Bar = Lanes["bars"][number];

const LANE = 18;
const BAR = 12;
const LABELS = 120;
const AXIS = 18;
const SHOWN = 7;
/** What the buttons take of the axis. */
const BUTTONS = 130;

interface View {
  from: number;
  to: number;
}

export function Timeline({
  lanes,
  here,
  marked,
  live,
  at,
}: {
  lanes: Lanes;
  here: number | null;
  marked: number[];
  live: boolean;
  at: (step: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState<View | null>(null);
  const [over, setOver] = useState<Bar | null>(null);
  const [drawn, setDrawn] = useState(0);
  const end = Math.max(lanes.duration, 0.001);
  const begin = useMemo(() => lead(lanes, end), [lanes, end]);
  const shown = view ?? { from: begin, to: end };
  const height = AXIS + Math.max(lanes.lanes.length, 1) * LANE + 4;
  const odd = useMemo(() => new Set(marked), [marked]);
  const labels = lanes.lanes.length > 1 ? Math.min(LABELS, (box.current?.clientWidth ?? 800) * 0.25) : 8;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `drawn` says that size, place or colours changed
  useEffect(() => {
    if (canvas.current && box.current)
      paint(canvas.current, box.current, { lanes, shown, here, odd, labels, over });
  }, [lanes, shown.from, shown.to, here, odd, labels, drawn, over]);
  useEffect(() => {
    const again = () => setDrawn((before) => before + 1);
    const sized = new ResizeObserver(again);
    if (box.current) sized.observe(box.current);
    const theme = window.matchMedia("(prefers-color-scheme: dark)");
    theme.addEventListener("change", again);
    return () => {
      sized.disconnect();
      theme.removeEventListener("change", again);
    };
  }, []);
  useEffect(() => {
    const place = box.current;
    if (!place) return;
    // React listens to wheels passively, and this one has to keep the page from zooming.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const width = place.clientWidth - labels;
      const share = Math.max(0, (event.clientX - place.getBoundingClientRect().left - labels) / width);
      setView((before) =>
        event.ctrlKey
          ? zoomed(before ?? { from: begin, to: end }, end, event.deltaY, share)
          : moved(before, end, event.deltaY / width),
      );
    };
    place.addEventListener("wheel", wheel, { passive: false });
    return () => place.removeEventListener("wheel", wheel);
  }, [begin, end, labels]);

  const under = (x: number, y: number): Bar | null => {
    const place = box.current;
    if (!place || x < labels) return null;
    const lane = Math.floor((y + place.scrollTop - AXIS) / LANE);
    const scale = (place.clientWidth - labels) / (shown.to - shown.from);
    const time = shown.from + (x - labels) / scale;
    const slack = 3 / scale;
    const near = lanes.bars.filter(
      ([, its, began, took]) =>
        its === lane && began - slack <= time && time <= began + (took ?? end - began) + slack,
    );
    return near.reduce<Bar | null>(
      (best, bar) => (!best || off(bar, time) < off(best, time) ? bar : best),
      null,
    );
  };
  const told = over ? `${over[0]} · ${over[4]} · ${over[5]} · ${duration(over[3])}` : "";
  return (
    <div className="timeline">
      <div
        ref={box}
        className="lanes"
        role="region"
        aria-label="Lanes"
        tabIndex={0}
        style={{ height: Math.min(height, AXIS + SHOWN * LANE + 10) }}
        onScroll={() => setDrawn((before) => before + 1)}
      >
        <div style={{ height, position: "relative" }}>
          <canvas
            ref={canvas}
            role="img"
            aria-label={`Timeline: ${lanes.bars.length} steps on ${lanes.lanes.length} lanes in ${duration(lanes.duration)}${live ? ", and going on" : ""}`}
            onMouseMove={(event) => setOver(under(event.nativeEvent.offsetX, event.nativeEvent.offsetY))}
            onMouseLeave={() => setOver(null)}
            onClick={(event) => {
              const bar = under(event.nativeEvent.offsetX, event.nativeEvent.offsetY);
              if (bar) at(bar[0]);
            }}
            onDoubleClick={() => setView(null)}
          />
        </div>
      </div>
      <div className="zoom">
        <span className="quiet told" aria-hidden>
          {told}
        </span>
        <button
          type="button"
          className="button bare"
          aria-label="Nearer"
          onClick={() =>
            setView((before) =>
              zoomed(before ?? { from: begin, to: end }, end, -150, middle(here, lanes, shown)),
            )
          }
        >
          +
        </button>
        <button
          type="button"
          className="button bare"
          aria-label="Farther"
          onClick={() => setView((before) => zoomed(before ?? { from: begin, to: end }, end, 150, 0.5))}
        >
          −
        </button>
        {begin > 0 && !view && (
          <button
            type="button"
            className="button bare"
            title="The run's start, such as imports, before its first step"
            onClick={() => setView({ from: 0, to: end })}
          >
            Show the first {duration(begin)}
          </button>
        )}
        {view && (
          <button type="button" className="button bare" onClick={() => setView(null)}>
            {begin > 0 ? "Steps" : "All"}
          </button>
        )}
      </div>
    </div>
  );
}

function off([, , began, took]: Bar, time: number): number {
  return Math.abs(began + (took ?? 0) / 2 - time);
}

/** How long the run took to come to its first step, as to import its modules: folded where it would fill the view. */
function lead(lanes: Lanes, end: number): number {
  const first = lanes.bars.reduce((least, bar) => Math.min(least, bar[2]), end);
  const from = first - (end - first) * 0.02;
  return first < end && from > end * 0.1 ? from : 0;
}

/** Where the step that one looks at stands in what is shown, as a share. */
function middle(here: number | null, lanes: Lanes, shown: View): number {
  const bar = here === null ? undefined : lanes.bars.find(([step]) => step === here);
  const share = bar ? (bar[2] - shown.from) / (shown.to - shown.from) : 0.5;
  return share >= 0 && share <= 1 ? share : 0.5;
}

function zoomed(view: View, end: number, delta: number, share: number): View | null {
  const wide = view.to - view.from;
  const next = Math.max(wide * Math.exp(delta / 300), end / 100_000);
  if (next >= end) return null;
  const from = Math.max(0, Math.min(view.from + (wide - next) * share, end - next));
  return { from, to: from + next };
}

function moved(view: View | null, end: number, share: number): View | null {
  if (!view) return null;
  const wide = view.to - view.from;
  const from = Math.max(0, Math.min(view.from + share * wide, end - wide));
  return { from, to: from + wide };
}

interface Scene {
  lanes: Lanes;
  shown: View;
  here: number | null;
  odd: Set<number>;
  labels: number;
  over: Bar | null;
}

/** Draw what is in view: the canvas is as big as the box, and stays in it while the box scrolls. */
function paint(canvas: HTMLCanvasElement, box: HTMLElement, scene: Scene): void {
  const { lanes, shown, here, odd, labels } = scene;
  const [width, height, density] = [box.clientWidth, box.clientHeight, window.devicePixelRatio || 1];
  if (canvas.width !== Math.round(width * density) || canvas.height !== Math.round(height * density)) {
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
  }
  const pen = canvas.getContext("2d");
  if (!pen) return;
  const style = getComputedStyle(box);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const kinds = colours(colour);
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = `11px ${style.fontFamily}`;
  pen.textBaseline = "middle";
  const scale = (width - labels) / (shown.to - shown.from);
  const x = (time: number) => labels + (time - shown.from) * scale;
  const y = (lane: number) => AXIS + lane * LANE - box.scrollTop;

  pen.save();
  pen.beginPath();
  pen.rect(labels, AXIS, width - labels, height - AXIS);
  pen.clip();
  for (const [step, lane, began, took, kind, status] of lanes.bars) {
    const top = y(lane) + (LANE - BAR) / 2;
    const left = x(began);
    const right = x(took === null ? lanes.duration : began + took);
    if (top > height || top + BAR < AXIS || left > width || right < labels) continue;
    const wide = Math.max(right - left, 2);
    pen.globalAlpha = took === null ? 0.45 : 1;
    pen.fillStyle = status === "error" ? colour("--bad") : (kinds[kind] ?? kinds.other ?? "");
    pen.fillRect(left, top, wide - (wide > 4 ? 1 : 0), BAR);
    pen.globalAlpha = 1;
    if (odd.has(step)) {
      pen.fillStyle = colour("--text");
      pen.fillRect(left, top + BAR - 1, Math.max(wide - 1, 3), 3);
    }
  }
  const chosen = lanes.bars.find(([step]) => step === here);
  if (chosen) {
    const [, lane, began, took] = chosen;
    const left = x(began);
    const wide = Math.max(x(took === null ? lanes.duration : began + took) - left, 2);
    pen.strokeStyle = colour("--text");
    pen.lineWidth = 2;
    pen.strokeRect(left - 2, y(lane) + 1, wide + 3, LANE - 2);
  }
  pen.restore();
  axis(pen, shown, width, labels, x, colour);
  if (lanes.lanes.length > 1) names(pen, lanes, labels, height, y, colour);
}

function colours(colour: (name: string) => string): Record<string, string> {
  const [model, tool, http, state, other] = ["model", "tool", "http", "state", "other"].map((kind) =>
    colour(`--kind-${kind}`),
  );
  return { model, tool, http, db: state, state, mcp: tool, browser: http, websocket: http, other } as Record<
    string,
    string
  >;
}

/** As much of a name as there is room for: lanes of one agent often differ at the end alone. */
function fitting(pen: CanvasRenderingContext2D, name: string, room: number): string {
  if (pen.measureText(name).width <= room) return name;
  let kept = name.length - 1;
  const cut = () => `${name.slice(0, Math.ceil(kept / 2))}…${name.slice(name.length - Math.floor(kept / 2))}`;
  while (kept > 2 && pen.measureText(cut()).width > room) kept -= 1;
  return cut();
}

function axis(
  pen: CanvasRenderingContext2D,
  shown: View,
  width: number,
  labels: number,
  x: (time: number) => number,
  colour: (name: string) => string,
): void {
  const wanted = Math.max(2, Math.floor((width - labels) / 110));
  const rough = (shown.to - shown.from) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= rough) ?? rough;
  for (let time = Math.ceil(shown.from / step) * step; time < shown.to; time += step) {
    pen.fillStyle = colour("--line");
    pen.fillRect(x(time), 0, 1, AXIS - 2);
    if (x(time) > width - BUTTONS) continue;
    pen.fillStyle = colour("--quiet");
    pen.fillText(time === 0 ? "0" : moment(time, step), x(time) + 4, AXIS / 2);
  }
}

function names(
  pen: CanvasRenderingContext2D,
  lanes: Lanes,
  labels: number,
  height: number,
  y: (lane: number) => number,
  colour: (name: string) => string,
): void {
  pen.save();
  pen.beginPath();
  pen.rect(0, AXIS, labels - 6, height - AXIS);
  pen.clip();
  pen.fillStyle = colour("--quiet");
  lanes.lanes.forEach((lane, index) => {
    const top = y(index);
    if (top > -LANE && top < height)
      pen.fillText(fitting(pen, visible(lane.label), labels - 14), 8, top + LANE / 2);
  });
  pen.restore();
}
