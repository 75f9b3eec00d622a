/** How numbers and times are written, everywhere the same. */

/** `0.4 ms`, `35 ms`, `1.2 s`, `3 min 5 s`, `2 h 4 min`; an empty text where it is not known. */
export function duration(seconds: number | null | undefined): string {
  // Exactly nothing is what imported runs have that knew no times.
  if (!seconds) return "";
  if (seconds < 0.000_05) return "<0.1 ms";
  if (seconds < 0.01) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A moment on an axis whose marks are so many seconds apart: neighbours differ. */
export function moment(seconds: number, apart: number): string {
  if (apart >= 60) return duration(seconds);
  const digits = Math.max(0, -Math.floor(Math.log10(apart)));
  if (seconds < 1) return `${(seconds * 1000).toFixed(Math.max(0, digits - 3))} ms`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes ? `${minutes} min ` : ""}${(seconds - 60 * minutes).toFixed(digits)} s`;
}

/** Dollars, with as many digits as say something: `$0.0004`, `$1.20`. */
export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return "";
  if (dollars === 0) return "$0";
  if (dollars < 0.0001) return "<$0.0001";
  return `$${dollars < 0.1 ? dollars.toFixed(4).replace(/0+$/, "") : dollars.toFixed(2)}`;
}

/** `940`, `12.3k`, `1.2M`. */
export function count(number: number | null | undefined): string {
  if (number === null || number === undefined) return "";
  if (number < 10_000) return number.toLocaleString("en");
  if (number < 1_000_000) return `${(number / 1000).toFixed(number < 100_000 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

/** `1 step`, `2 steps`. */
export function counted(number: number, word: string, many = `${word}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? word : many}`;
}

/** What a run is called: its name, else its script, else its id. */
export function titled(line: { id: string; name: string; script?: string | null }): string {
  return line.name || line.script || line.id;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const WHOLE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** When, as a mail program writes it: the hour today, the day this year, else the year too. */
export function when(at: string | number | null | undefined, now = new Date()): string {
  const date = dated(at);
  if (!date) return "";
  if (date.toDateString() === now.toDateString()) return CLOCK.format(date);
  return (date.getFullYear() === now.getFullYear() ? DAY : YEAR).format(date);
}

/** When, to the second. */
export function whenExactly(at: string | number | null | undefined): string {
  const date = dated(at);
  return date ? WHOLE.format(date) : "";
}

function dated(at: string | number | null | undefined): Date | null {
  if (at === null || at === undefined || at === "") return null;
  const date = new Date(typeof at === "number" ? at * 1000 : at);
  return Number.isNaN(date.getTime()) ? null : date;
}
