/**
 * Times, in seconds. Each session has its own, from its beginning; a page has one clock. Alone they are the same; two
 * sessions beside each other wait for each other at every step that they share.
 */

import { useSyncExternalStore } from "react";

/** The place of the last item whose time is not after `t`, or -1. Items are by time. */
export function lastAt<T>(items: readonly T[], t: number, timeOf: (item: T) => number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(items[middle] as T) <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A straight line through points that rise on both axes, there and back. */
export class Line {
  constructor(private readonly points: readonly (readonly [number, number])[]) {}

  at(x: number): number {
    return this.read(x, 0, 1);
  }

  back(y: number): number {
    return this.read(y, 1, 0);
  }

  private read(value: number, from: 0 | 1, to: 0 | 1): number {
    const points = this.points;
    let place = lastAt(points, value, (point) => point[from]);
    const begin = points[Math.max(place, 0)];
    if (!begin) return value;
    if (place < 0) return begin[to];
    if (from === 1 && begin[1] === value) {
      // Of a stretch in which the other axis rises alone, its beginning is meant.
      while (place > 0 && points[place - 1]?.[1] === value) place--;
    }
    const here = points[place] ?? begin;
    const next = points[place + 1];
    if (!next || next[from] === here[from]) return here[to];
    return here[to] + ((next[to] - here[to]) * (value - here[from])) / (next[from] - here[from]);
  }
}

/** Two sides on one clock: at each pair both begin their step together, and who is done first waits. */
export function together(
  sides: readonly [Timed, Timed],
  pairs: readonly (readonly [number | null, number | null])[],
): { duration: number; lines: [Line, Line]; starts: number[] } {
  const [one, other] = [anchors(sides[0], pairs, 0), anchors(sides[1], pairs, 1)];
  const points: [[number, number][], [number, number][]] = [[[0, 0]], [[0, 0]]];
  const place: [number, number] = [0, 0];
  let now = 0;
  const advance = (goals: [number, number]) => {
    const long = Math.max(0, goals[0] - place[0], goals[1] - place[1]);
    for (const side of [0, 1] as const) {
      const goal = Math.max(goals[side], place[side]);
      points[side].push([now + goal - place[side], goal], [now + long, goal]);
      place[side] = goal;
    }
    now += long;
  };
  const next = { one: 0, other: 0 };
  const goals = (): [number, number] => [
    one[next.one]?.t ?? sides[0].duration,
    other[next.other]?.t ?? sides[1].duration,
  ];
  advance(goals());
  const starts = pairs.map((_, number) => {
    const at = now;
    const taking = [one[next.one]?.pair === number, other[next.other]?.pair === number];
    if (taking[0]) next.one++;
    if (taking[1]) next.other++;
    const to = goals();
    advance([taking[0] ? to[0] : place[0], taking[1] ? to[1] : place[1]]);
    return at;
  });
  advance([sides[0].duration, sides[1].duration]);
  return { duration: Math.max(now, 0.1), lines: [new Line(points[0]), new Line(points[1])], starts };
}

/** What is needed of a side: how long it is, and when its rows begin. */
export interface Timed {
  duration: number;
  times: readonly number[];
}

/** The pairs at which a side's time goes on: not those that stand out of their order. */
function anchors(side: Timed, pairs: readonly (readonly [number | null, number | null])[], which: 0 | 1) {
  const found: { pair: number; t: number }[] = [];
  let last = -1;
  for (const [pair, places] of pairs.entries()) {
    const at = places[which];
    const t = at === null ? undefined : side.times[at];
    if (t !== undefined && t >= last) {
      found.push({ pair, t });
      last = t;
    }
  }
  return found;
}

/** 83.4 as `1:23.4`. */
export function clockText(t: number): string {
  const tenths = Math.max(0, Math.round(t * 10));
  const seconds = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  const minutes = Math.floor(tenths / 600);
  if (minutes < 60) return `${minutes}:${seconds}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${seconds}`;
}

/** A page's time: it runs, stops, jumps, and passes over what is idle. Who shows something of it subscribes. */
export class Clock {
  now = 0;
  speed = 1;
  playing = false;
  skipping = false;
  /** The moments at which something happens, by time: what lies between is idle. */
  busy: readonly number[] = [];
  duration = 0;
  /** A moment at which playing pauses, or null. */
  stop: number | null = null;
  private last = 0;
  private readonly ears = new Set<() => void>();

  subscribe = (ear: () => void): (() => void) => {
    this.ears.add(ear);
    return () => this.ears.delete(ear);
  };

  /** How long it is, and when something happens. */
  span(duration: number, busy: readonly number[]): void {
    this.duration = duration;
    this.busy = busy;
    this.now = Math.min(this.now, duration);
    this.tell();
  }

  play(): void {
    if (this.playing) return;
    if (this.now >= this.duration) this.now = 0;
    this.playing = true;
    this.last = performance.now();
    requestAnimationFrame(this.beat);
    this.tell();
  }

  pause(): void {
    this.playing = false;
    this.tell();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(t: number): void {
    this.now = Math.min(Math.max(t, 0), this.duration);
    this.tell();
  }

  set(settings: { speed?: number; skipping?: boolean }): void {
    Object.assign(this, settings);
    this.tell();
  }

  private beat = (moment: number): void => {
    if (!this.playing) return;
    const passed = (Math.max(0, moment - this.last) / 1000) * this.speed;
    const before = this.now;
    this.now = Math.min(this.now + passed, this.duration);
    this.last = moment;
    if (this.skipping) this.now = this.over(this.now);
    if (this.stop !== null && before < this.stop && this.now >= this.stop) {
      this.now = this.stop;
      this.playing = false;
    }
    if (this.now >= this.duration) this.playing = false;
    this.tell();
    if (this.playing) requestAnimationFrame(this.beat);
  };

  /** Where to go on: a second after the last thing that happened, half a second before the next. */
  private over(now: number): number {
    const place = lastAt(this.busy, now, (t) => t);
    const before = this.busy[place] ?? 0;
    const after = this.busy[place + 1] ?? this.duration;
    return now > before + 1 && after - 0.5 > now ? after - 0.5 : now;
  }

  private tell(): void {
    for (const ear of this.ears) ear();
  }
}

/** Something that follows from the clock; what shows it is drawn again when it is something else. */
export function useClock<T>(clock: Clock, read: (clock: Clock) => T): T {
  return useSyncExternalStore(clock.subscribe, () => read(clock));
}
