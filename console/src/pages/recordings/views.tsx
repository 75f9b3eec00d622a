/** Saved views: a filter and an order under a name, kept in this browser. */

import { useState, useSyncExternalStore } from "react";
import type { Asked } from "./asked";

interface View {
  name: string;
  filter: string;
  sort: string;
}

const KEY = "reenact.views";
const MOST = 50;
const listeners = new Set<() => void>();
let kept: readonly View[] | null = null;

function views(): readonly View[] {
  kept ??= read();
  return kept;
}

/** What other programs may have put there is left out. */
function read(): View[] {
  try {
    const told: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    const all = Array.isArray(told) ? told : [];
    return all.filter((one) => ["name", "filter", "sort"].every((part) => typeof one?.[part] === "string"));
  } catch {
    return [];
  }
}

function keep(next: readonly View[]): void {
  kept = next.slice(-MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Where the browser keeps nothing, a view lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

function heard(listener: () => void): () => void {
  const elsewhere = (event: StorageEvent) => {
    if (event.key !== KEY) return;
    kept = null;
    listener();
  };
  listeners.add(listener);
  window.addEventListener("storage", elsewhere);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", elsewhere);
  };
}

export function Views({ asked }: { asked: Asked }) {
  const all = useSyncExternalStore(heard, views);
  const [name, setName] = useState<string | null>(null);
  const here = (view: View) => view.filter === asked.filter && view.sort === asked.sort;
  const savable = asked.special && !all.some(here);
  if (all.length === 0 && !savable) return null;
  const save = () => {
    const called = name?.trim();
    if (!called) return;
    const others = all.filter((view) => view.name !== called);
    keep([...others, { name: called, filter: asked.filter, sort: asked.sort }]);
    setName(null);
  };
  return (
    <section className="facet saved" aria-label="Saved views">
      <h2>Saved views</h2>
      <ul>
        {all.map((view) => (
          <li key={view.name}>
            <button
              type="button"
              aria-pressed={here(view)}
              title={view.filter || "all recordings"}
              onClick={() => asked.show(view.filter, view.sort)}
            >
              <span className="clip">{view.name}</span>
            </button>
            <button
              type="button"
              className="remove"
              aria-label={`Remove the view ${view.name}`}
              onClick={() => keep(all.filter((one) => one !== view))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {savable && name === null && (
        <button type="button" className="more" onClick={() => setName("")}>
          Save this view
        </button>
      )}
      {savable && name !== null && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <input
            className="field"
            aria-label="Name of the view"
            placeholder="Name"
            maxLength={60}
            // biome-ignore lint/a11y/noAutofocus: it comes by a click on *Save this view*
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && setName(null)}
          />
          <button type="submit" className="button" disabled={!name.trim()}>
            Save
          </button>
        </form>
      )}
    </section>
  );
}
