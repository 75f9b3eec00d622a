/** What is around every page: where one is, where one can go, and what the keys do. */

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { get } from "./client";
import { comparing, listAt } from "./filter";
import { keyName, useKeys, useKnownKeys } from "./keys";
import { useConnected } from "./live";
import type { Me } from "./model";
import { Palette } from "./palette";
import { Toasts } from "./toasts";
import { Dialog } from "./ui";
import { visible } from "./visible";
import "./shell.css";

const PLACES = [
  { to: "/", name: "Recordings", key: "r", here: (at: string) => at === "/" || at.startsWith("/r/") },
  { to: "/compare", name: "Compare", key: "c", here: (at: string) => at.startsWith("/compare") },
  { to: "/trends", name: "Trends", key: "t", here: (at: string) => at.startsWith("/trends") },
  { to: "/jobs", name: "Jobs", key: "o", here: (at: string) => at.startsWith("/jobs") },
  { to: "/heals", name: "Heals", key: "h", here: (at: string) => at.startsWith("/heals") },
];

export function Shell({ children }: { children: ReactNode }) {
  const [at, go] = useLocation();
  const [words] = useSearchParams();
  // The list is drawn after this: where it is shown, the address is newer than what it has left.
  const chosen = at === "/" ? comparing(words) : comparing(new URLSearchParams(listAt().split("?")[1]));
  const places = PLACES.map((place) =>
    place.to === "/compare" && !place.here(at) ? { ...place, to: chosen } : place,
  );
  const [open, setOpen] = useState<"help" | "palette" | null>(null);
  const me = useQuery({
    queryKey: ["me"],
    queryFn: () => get<Me>("/me"),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const heard = useConnected();
  useKeys("Everywhere", {
    "?": { does: "Keyboard shortcuts", run: () => setOpen("help") },
    "Ctrl+k": { does: "Go anywhere", run: () => setOpen("palette") },
    G: { does: "Go to the recordings", run: () => go("/") },
  });
  return (
    <div className="shell">
      <a className="skip" href="#main">
        To the content
      </a>
      <header className="top">
        <Link to="/" className="brand" aria-label="Reenact: all recordings">
          <img src="/icon.svg" alt="" width="22" height="22" />
          <span>Reenact</span>
        </Link>
        <nav aria-label="Pages">
          {places.map((place) => (
            <Link key={place.name} to={place.to} aria-current={place.here(at) ? "page" : undefined}>
              {place.name}
            </Link>
          ))}
        </nav>
        <div className="about">
          {!heard && (
            <span className="badge warn" role="status">
              not connected
            </span>
          )}
          {me.data && me.data.project !== "default" && <span className="badge">{me.data.project}</span>}
          <button type="button" className="button bare" onClick={() => setOpen("palette")}>
            <span className="wide">Go to</span> <kbd>Ctrl K</kbd>
          </button>
          <button
            type="button"
            className="button bare"
            aria-label="Keyboard shortcuts"
            onClick={() => setOpen("help")}
          >
            <kbd>?</kbd>
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {open === "help" && <Help close={() => setOpen(null)} />}
      {open === "palette" && <Palette places={places} close={() => setOpen(null)} />}
      <Toasts />
    </div>
  );
}

function Help({ close }: { close: () => void }) {
  const layers = useKnownKeys().filter((layer) => layer.title !== "Dialog");
  return (
    <Dialog title="Keyboard shortcuts" close={close} className="help">
      <h2>Keyboard shortcuts</h2>
      {layers.toReversed().map((layer) => (
        <section key={layer.title}>
          <h3>{layer.title}</h3>
          <dl>
            {Object.entries(layer.keys).map(([key, { does }]) => (
              <div key={key}>
                <dt>
                  <kbd>{keyName(key)}</kbd>
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <button type="button" className="button" onClick={close}>
        Close
      </button>
    </Dialog>
  );
}

/** What the browser's tab says. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${visible(title)} · Reenact` : "Reenact";
  }, [title]);
}
