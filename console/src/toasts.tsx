/** Short words that come and go: what was done, and what went wrong. */

import { Toast } from "radix-ui";
import { useSyncExternalStore } from "react";

interface Said {
  id: number;
  text: string;
  bad: boolean;
}

let said: readonly Said[] = [];
let next = 1;
const listeners = new Set<() => void>();

function tell(all: readonly Said[]): void {
  said = all;
  for (const listener of listeners) listener();
}

/** Say something: it goes by itself. */
export function say(text: string, bad = false): void {
  if (said.some((one) => one.text === text)) return;
  tell([...said.slice(-3), { id: next++, text, bad }]);
}

/** Say what went wrong. */
export function complain(error: unknown): void {
  say(error instanceof Error ? error.message : String(error), true);
}

/** Copy a text, and say so. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`);
  } catch {
    say(`The browser did not let us copy: ${text}`, true);
  }
}

export function Toasts() {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => said,
  );
  return (
    <Toast.Provider duration={6000} swipeDirection="right">
      {all.map((one) => (
        <Toast.Root
          key={one.id}
          className={`toast ${one.bad ? "bad" : ""}`}
          onOpenChange={(open) => !open && tell(said.filter((other) => other.id !== one.id))}
        >
          <Toast.Description>{one.text}</Toast.Description>
          <Toast.Close className="button bare" aria-label="Close">
            ×
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="toasts" label="Messages ({hotkey})" />
    </Toast.Provider>
  );
}
