/** What the server tells of a browser session, by the names that the pages use. */

import type { components } from "../../schema";

type Schemas = components["schemas"];
export type Film = Schemas["Film"];
export type FilmStep = Schemas["FilmStep"];
export type FilmRequest = Schemas["FilmRequest"];
export type FilmLine = Schemas["FilmLine"];
export type Said = Schemas["FilmSaid"];
export type SessionVideo = Schemas["SessionVideo"];

/** A picture as a live session tells it (`Frame` of the API). */
export interface Frame {
  t: number;
  jpeg: string;
  width: number;
  height: number;
  url: string;
}

/** Whether a step failed. */
export function failed(step: FilmStep): boolean {
  return step.status === "failed";
}

/** From a step's beginning to the next one's: what happened then is what it brought about. */
export function stretch(steps: readonly FilmStep[], place: number): [number, number] {
  const step = steps[place];
  if (!step) return [0, 0];
  const next = steps.find((other, at) => at > place && other.t > step.t && (!step.acts || other.acts));
  return [step.t, next ? next.t : Number.POSITIVE_INFINITY];
}

/** What happened in a stretch of time. */
export function within<T extends { t: number }>(items: readonly T[], [from, to]: [number, number]): T[] {
  return items.filter((item) => item.t >= from && item.t < to);
}
