/** Small pieces that every page uses. */

import Copy from "lucide-react/dist/esm/icons/copy.mjs";
import { type ReactNode, useEffect, useRef } from "react";
import { API, path, Refused } from "./client";
import { useKeys } from "./keys";
import type { Line } from "./model";
import { copy } from "./toasts";

/** What went wrong, in a line. */
export function problem(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // What a program would ask next is not for people; the lines below that of a filter point at its column in a terminal.
  return text.replace(/; GET \/api\S* lists all$/, "").replace(/^(filter, column \d+: [^\n]*)\n.*$/s, "$1");
}

/** What went wrong, in the place where the answer would be. */
export function Failure({ error }: { error: unknown }) {
  const text = problem(error);
  return (
    <p className="failure" role="alert">
      {error instanceof Refused && error.status === 404 ? `Not here: ${text}` : text}
    </p>
  );
}

/** Nothing to show, and what to do about it. It is the page's heading, unless the page has one. */
export function Nothing({
  title,
  heading: Heading = "h1",
  children,
}: {
  title: string;
  heading?: "h1" | "h2";
  children?: ReactNode;
}) {
  return (
    <div className="nothing">
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

/** A page that is still read: its heading is there from its first paint. */
export function Reading({
  title,
  children,
  className = "page",
}: {
  title: string;
  children?: ReactNode;
  className?: string;
}) {
  return (
    <div className={className} aria-busy="true">
      <h1 className="unseen">{title}</h1>
      {children && <p className="quiet">{children}</p>}
    </div>
  );
}

/** A page that cannot be shown, and why. */
export function Failed({ title, error }: { title: string; error: unknown }) {
  return (
    <div className="page">
      <h1>{title}</h1>
      <Failure error={error} />
    </div>
  );
}

/** Pictures of a step, by their places among all that it has. */
export function Pictures({ id, step, places }: { id: string; step: number; places: readonly number[] }) {
  if (places.length === 0) return null;
  return (
    <p className="held">
      {places.map((place) => (
        <img
          key={place}
          src={`${API}${path("recordings", id, "steps", step, "pictures", place)}`}
          alt={`Step ${step}, number ${place + 1}`}
          loading="lazy"
        />
      ))}
    </p>
  );
}

/** A command for the terminal, to copy. */
export function Command({ text }: { text: string }) {
  return (
    <span className="command">
      <code className="clip">{text}</code>
      <button type="button" className="button bare" onClick={() => copy(text)} aria-label={`Copy: ${text}`}>
        <Copy aria-hidden />
      </button>
    </span>
  );
}

/** A window above the page: it has the keyboard until Escape. */
export function Dialog({
  title,
  children,
  close,
  className = "",
}: {
  title: string;
  children: ReactNode;
  close: () => void;
  className?: string;
}) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = place.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  useKeys("Dialog", { Escape: { does: "Close", run: close } });
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes; a click beside it is for the mouse alone
    <dialog
      ref={place}
      aria-label={title}
      className={className}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => event.target === place.current && close()}
    >
      {children}
    </dialog>
  );
}

const TONES: Record<string, string> = {
  ok: "good",
  done: "good",
  error: "bad",
  failed: "bad",
  crashed: "bad",
  diverged: "bad",
  unfinished: "warn",
  torn: "warn",
  cancelled: "warn",
  running: "live",
  live: "live",
  queued: "",
};

/** The marks of a recording that is not this home's own, or was changed after it was sealed; nothing for others. */
export function Origin({ of }: { of: Line["origin"] }) {
  const words = [of?.where === "foreign" && "foreign", of?.seal === "changed" && "changed"].filter(Boolean);
  if (of === null || of === undefined || (words.length === 0 && !of.name)) return null;
  return (
    <span
      className="badge"
      title={of.fingerprint ? `signed by the key ${of.fingerprint}` : "signed by no key"}
    >
      {words.join(", ") || `by ${of.name}`}
    </span>
  );
}

/** How something went, in one word with its colour. */
export function Status({ of, live = false }: { of: string; live?: boolean }) {
  const word = live ? "live" : of;
  return (
    <span className={`badge ${TONES[word] ?? ""}`}>
      <span className={live ? "dot pulse" : "dot"} aria-hidden />
      {word}
    </span>
  );
}
