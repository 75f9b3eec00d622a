/** The drawing of the trends. It comes after the list. */

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Bucket } from "../../model";
import { MEASURES, type Measure } from "./trends";

const HEIGHT = 96;
const HOUR = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export default function Chart({
  buckets,
  measure,
  by,
  told,
}: {
  buckets: Bucket[];
  measure: Measure;
  by: "hour" | "day";
  told: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = place.current;
    if (!box) return;
    let plot = drawn(box, buckets, measure, by);
    const again = () => {
      plot.destroy();
      plot = drawn(box, buckets, measure, by);
    };
    const sized = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }));
    sized.observe(box);
    const theme = window.matchMedia("(prefers-color-scheme: dark)");
    theme.addEventListener("change", again);
    return () => {
      theme.removeEventListener("change", again);
      sized.disconnect();
      plot.destroy();
    };
  }, [buckets, measure, by]);
  return <div ref={place} className="chart" role="img" aria-label={told} />;
}

/** The least end of the axis of costs, in dollars: smaller prices are written as `<$0.0001`. */
const CHEAPEST = 0.0003;

/** Measures that are whole numbers. */
const COUNTED: readonly Measure[] = ["runs", "tokens"];

function drawn(box: HTMLElement, buckets: Bucket[], measure: Measure, by: "hour" | "day"): uPlot {
  const { of, write } = MEASURES[measure];
  const style = getComputedStyle(box);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const step = by === "hour" ? 3600 : 86400;
  const filled = gapless(buckets, step);
  const columns = filled.map(({ bucket }) => (bucket ? [...of(bucket)] : []));
  const width = measure === "runs" ? 2 : (columns.find((column) => column.length)?.length ?? 1);
  const bars = uPlot.paths.bars?.({ size: [0.8, 28, 1], radius: 0.1 });
  const fills = ["--accent", measure === "runs" ? "--bad" : "--live"];
  const font = `11px ${style.fontFamily}`;
  const axis = { stroke: colour("--quiet"), font, ticks: { show: false } };
  return new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      padding: [6, 22, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: { range: (_, low, high) => [low - step / 2, high + step / 2] },
        y: { range: (_, __, high) => [0, measure === "failures" ? 100 : greatest(measure, high)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 22,
          incrs: [1, 2, 3, 6, 12, 24, 72, 168, 336]
            .map((hours) => hours * 3600)
            .filter((each) => each >= step),
          values: (_, splits) => splits.map((at) => (by === "hour" ? HOUR : DAY).format(at * 1000)),
        },
        {
          ...axis,
          grid: { stroke: colour("--line"), width: 1 },
          size: 54,
          splits: (_, __, ___, high) => rounded(high, COUNTED.includes(measure)),
          values: (_, splits) => splits.map((value) => write(value)),
        },
      ],
      series: [
        {},
        ...Array.from({ length: width }, (_, index) => ({
          fill: colour(fills[index] ?? "--accent"),
          width: 0,
          points: { show: false },
          ...(bars ? { paths: bars } : {}),
        })),
      ],
    },
    [
      filled.map(({ at }) => at),
      ...Array.from({ length: width }, (_, index) => columns.map((column) => column[index] ?? null)),
    ] as uPlot.AlignedData,
    box,
  );
}

/** The end of the value axis: a little above the greatest value, and where prices can still be written. */
function greatest(measure: Measure, high: number): number {
  return Math.max(high * 1.08, measure === "cost" && high > 0 ? CHEAPEST : 0) || 1;
}

/** Two to four round values from 0 on; whole ones where the measure is counted. */
function rounded(high: number, whole: boolean): number[] {
  const power = 10 ** Math.floor(Math.log10(high / 3));
  const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= high / 3) ?? high;
  const each = whole ? Math.max(1, step) : step;
  return Array.from({ length: Math.floor(high / each) + 1 }, (_, index) => index * each);
}

/** Hours or days without any run are there too, and empty. */
function gapless(buckets: Bucket[], step: number): { at: number; bucket: Bucket | undefined }[] {
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.at) / 1000, bucket]));
  const times = [...known.keys()];
  const [low, high] = [Math.min(...times), Math.max(...times)];
  const many = Math.round((high - low) / step) + 1;
  if (many > 1000) return times.map((at) => ({ at, bucket: known.get(at) }));
  return Array.from({ length: many }, (_, index) => low + index * step).map((at) => ({
    at,
    bucket: known.get(at),
  }));
}
