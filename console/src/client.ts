/** What the server is asked, and how it refuses. */

import { parse } from "./json";

export const API = "/api/v1";

/** A refusal of the server: its one line, and the HTTP status. Status 0: the server could not be reached. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    detail: string,
    /** What else it said: a filter's error has the column. */
    readonly body: unknown = null,
  ) {
    super(detail);
  }
}

/** The path of something that the API answers about: each piece is escaped. */
export function path(...pieces: (string | number)[]): string {
  return `/${pieces.map((piece) => encodeURIComponent(String(piece))).join("/")}`;
}

type Query = Record<string, string | number | boolean | null | undefined>;

/** Ask for something: `get<Line>(path("recordings", id))`. Throws Refused. */
export function get<T>(where: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const known = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const words = new URLSearchParams(known.map(([name, value]) => [name, String(value)])).toString();
  return ask<T>("GET", words ? `${where}?${words}` : where, undefined, signal);
}

/** Tell the server to do something, with a JSON body. Throws Refused. */
export function post<T>(where: string, body?: unknown): Promise<T> {
  return ask<T>("POST", where, body);
}

/** Put something in the place of what was there. Throws Refused. */
export function put<T>(where: string, body: unknown): Promise<T> {
  return ask<T>("PUT", where, body);
}

/** Take something away. Throws Refused. */
export function remove<T>(where: string): Promise<T> {
  return ask<T>("DELETE", where);
}

async function ask<T>(method: string, where: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const asked: RequestInit = { method, headers: { accept: "application/json" }, credentials: "same-origin" };
  if (signal) asked.signal = signal;
  if (body !== undefined) {
    asked.body = JSON.stringify(body);
    asked.headers = { accept: "application/json", "content-type": "application/json" };
  }
  let answer: Response;
  try {
    answer = await fetch(API + where, asked);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(0, "the server cannot be reached");
  }
  const told: unknown = await answer
    .text()
    .then(parse)
    .catch(() => null);
  if (answer.ok) return told as T;
  if (answer.status === 401) window.dispatchEvent(new Event("reenact:key-needed"));
  throw new Refused(answer.status, refusal(told) ?? `the server answered ${answer.status}`, told);
}

function refusal(told: unknown): string | null {
  if (typeof told !== "object" || told === null || !("detail" in told)) return null;
  return typeof told.detail === "string" ? told.detail : JSON.stringify(told.detail);
}
