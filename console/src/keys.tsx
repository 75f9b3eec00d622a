/** Keys: a page says which it answers to, and `?` shows them. */

import { useEffect, useRef, useSyncExternalStore } from "react";

export type Keys = Record<string, { does: string; run: (event: KeyboardEvent) => void }>;

interface Layer {
  title: string;
  keys: Keys;
}

const layers: Layer[] = [];
const listeners = new Set<() => void>();
let shown: readonly Layer[] = [];

function changed(): void {
  shown = [...layers];
  for (const listener of listeners) listener();
}

/**
 * Answer to keys while a component is there. A key is written as it is typed (`j`, `?`, `Enter`, `Escape`, `Ctrl+k`).
 * Of several layers, the latest that knows a key has it. While one types in a field only Escape and Ctrl are heard.
 */
export function useKeys(title: string, keys: Keys, on = true): void {
  const layer = useRef<Layer>({ title, keys });
  layer.current.keys = keys;
  const names = Object.entries(keys)
    .map(([key, { does }]) => `${key}=${does}`)
    .join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names stand for the keys, whose functions are new each time
  useEffect(() => {
    if (!on) return;
    const mine = layer.current;
    layers.push(mine);
    changed();
    return () => {
      layers.splice(layers.indexOf(mine), 1);
      changed();
    };
  }, [on, names]);
}

const NAMES: Record<string, string> = {
  " ": "Space",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  "Ctrl+k": "Ctrl K",
};

/** A key as a keyboard shows it: `Space`, `←`. */
export function keyName(key: string): string {
  return NAMES[key] ?? key;
}

/** All keys that are answered to now, by layer. */
export function useKnownKeys(): readonly Layer[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !["checkbox", "radio", "button", "range"].includes(target.type);
  return (
    target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  );
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const held = event.ctrlKey || event.metaKey;
  const name = held ? `Ctrl+${event.key.toLowerCase()}` : event.key;
  if (typing(event.target) && !held && event.key !== "Escape") return;
  // A dialog has the keyboard to itself, but for what it says itself.
  const modal = document.querySelector("dialog:modal") !== null;
  // Enter and Space on a button or link are its own.
  const own =
    event.target instanceof Element && event.target.closest("button, a[href], summary, [role=tab]") !== null;
  if (own && (event.key === "Enter" || event.key === " ")) return;
  for (const layer of layers.toReversed()) {
    const known = layer.keys[name];
    if (!known || (modal && layer.title !== "Dialog")) continue;
    event.preventDefault();
    known.run(event);
    return;
  }
}

window.addEventListener("keydown", pressed);
