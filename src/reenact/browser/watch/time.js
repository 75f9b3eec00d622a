// Times are in seconds. Each side has its own time, from the beginning of its session; the page's time is what the
// slider shows. Alone they are the same; beside each other the sides wait for each other at every step they share.

/** The place of the last item whose time is not after `t`, or -1. Items are by time. */
function lastAt(items, t, timeOf) {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(items[middle]) <= t) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/** A straight line through points that rise on both axes, there and back. */
class Line {
  constructor(points) { this.points = points; }

  at(x) { return this.read(x, 0, 1); }

  back(y) { return this.read(y, 1, 0); }

  read(value, from, to) {
    const points = this.points;
    const place = lastAt(points, value, (point) => point[from]);
    if (place < 0) return points.length ? points[0][to] : value;
    // Of a stretch in which the other axis rises alone, `back` means its beginning.
    let first = place;
    if (from === 1) while (first > 0 && points[first - 1][1] === points[place][1] && points[place][1] === value) first--;
    const here = points[first], next = points[first + 1];
    if (!next || next[from] === here[from]) return here[to];
    return here[to] + (next[to] - here[to]) * (value - here[from]) / (next[from] - here[from]);
  }
}

/** 83.4 as `1:23.4`. */
function clockText(t) {
  const tenths = Math.max(0, Math.round(t * 10));
  const seconds = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  const minutes = Math.floor(tenths / 600);
  if (minutes < 60) return `${minutes}:${seconds}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${seconds}`;
}

function lengthText(seconds) {
  if (seconds === null || seconds === undefined) return "";
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

function sizeText(bytes) {
  if (bytes === null || bytes === undefined) return "";
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 999950 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** What the list shows and the clock counts: one entry a step, or one a pair of steps. */
function alone(side) {
  const end = side.duration;
  return {
    duration: end,
    lines: [new Line([[0, 0], [end, end]])],
    entries: side.rows.map((row, place) => ({ rows: [place, null], kind: "", at: row.t, differences: [] })),
  };
}

/** Two sides on one clock: at each pair both begin their step together, and who is done first waits. */
function together(sides, pairs) {
  const starts = [0, 1].map((side) => anchors(sides[side], pairs, side));
  const points = [[[0, 0]], [[0, 0]]], place = [0, 0], next = [0, 0];
  let now = 0;
  const advance = (goals) => {
    const long = Math.max(0, ...goals.map((goal, side) => goal - place[side]));
    goals.forEach((goal, side) => {
      points[side].push([now + Math.max(0, goal - place[side]), Math.max(goal, place[side])]);
      points[side].push([now + long, Math.max(goal, place[side])]);
      place[side] = Math.max(goal, place[side]);
    });
    now += long;
  };
  const goal = (side) => (next[side] < starts[side].length ? starts[side][next[side]].t : sides[side].duration);
  advance([goal(0), goal(1)]);
  const entries = pairs.map((pair, number) => {
    const entry = { rows: [pair.a, pair.b], kind: pair.kind, at: now, differences: pair.differences };
    const taking = [0, 1].map((side) => starts[side][next[side]] && starts[side][next[side]].pair === number);
    taking.forEach((own, side) => { if (own) next[side]++; });
    advance([0, 1].map((side) => (taking[side] ? goal(side) : place[side])));
    return entry;
  });
  advance([sides[0].duration, sides[1].duration]);
  return { duration: Math.max(now, 0.1), lines: points.map((side) => new Line(side)), entries };
}

/** The pairs at which a side's time goes on: not those that stand out of their order. */
function anchors(side, pairs, which) {
  const found = [];
  let last = -1;
  pairs.forEach((pair, number) => {
    const row = side.rows[which === 0 ? pair.a : pair.b];
    if (row && row.t >= last) {
      found.push({ pair: number, t: row.t });
      last = row.t;
    }
  });
  return found;
}

/** The page's time: it runs, stops, jumps, and passes over what is idle. */
class Clock {
  constructor(duration, busy) {
    this.duration = duration;
    this.busy = busy;
    this.now = 0;
    this.speed = 1;
    this.playing = false;
    this.skipping = false;
    this.stop = null;
    this.changed = () => {};
    this.beat = this.beat.bind(this);
  }

  play() {
    if (this.playing) return;
    if (this.now >= this.duration) this.now = 0;
    this.playing = true;
    this.last = performance.now();
    requestAnimationFrame(this.beat);
    this.changed();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  seek(t) {
    this.now = Math.min(Math.max(t, 0), this.duration);
    this.changed();
  }

  beat(moment) {
    if (!this.playing) return;
    const before = this.now;
    this.now = Math.min(this.now + Math.max(0, moment - this.last) / 1000 * this.speed, this.duration);
    this.last = moment;
    if (this.skipping) this.now = this.passed(this.now);
    // Two runs pause where they part; playing goes on from there.
    if (this.stop !== null && before < this.stop && this.now >= this.stop) {
      this.now = this.stop;
      this.playing = false;
    }
    if (this.now >= this.duration) this.playing = false;
    this.changed();
    if (this.playing) requestAnimationFrame(this.beat);
  }

  /** Where to go on: a second after the last thing that happened, half a second before the next. */
  passed(now) {
    const place = lastAt(this.busy, now, (t) => t);
    const before = place < 0 ? 0 : this.busy[place];
    const after = place + 1 < this.busy.length ? this.busy[place + 1] : this.duration;
    return now > before + 1 && after - 0.5 > now ? after - 0.5 : now;
  }
}
