/** Go anywhere by typing: a page, or a recording by its id or name. */

import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { useLocation } from "wouter";
import { get } from "./client";
import { meant, unfinished } from "./filter";
import { titled } from "./format";
import type { Recordings } from "./model";
import { Dialog } from "./ui";

interface Goal {
  to: string;
  name: string;
  about: string;
}

/** By the beginning of an id, by name, or by anything in it. */
function sought(text: string): string {
  if (!/^[\w.-]+$/.test(text)) return meant(text);
  return `name:"*${text}*" or id ~ "^${text}"`;
}

export function Palette({ places, close }: { places: { to: string; name: string }[]; close: () => void }) {
  const [, go] = useLocation();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const wanted = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ["palette", wanted],
    queryFn: ({ signal }) => get<Recordings>("/recordings", { filter: sought(wanted), limit: 8 }, signal),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => unfinished(state.data),
    retry: false,
  });
  const pages = places.filter((place) => place.name.toLowerCase().includes(wanted.toLowerCase()));
  const goals: Goal[] = [
    ...pages.map((place) => ({ to: place.to, name: place.name, about: "page" })),
    ...(found.data?.items ?? []).map((line) => ({
      to: `/r/${line.id}`,
      name: titled(line),
      about: [line.prompt, line.id, line.status].filter(Boolean).join(" · "),
    })),
  ];
  const at = Math.min(chosen, goals.length - 1);
  const open = (goal: Goal | undefined) => {
    if (!goal) return;
    close();
    go(goal.to);
  };
  return (
    <Dialog title="Go anywhere" close={close} className="palette">
      <input
        className="field"
        placeholder="A page, or a recording"
        role="combobox"
        aria-label="Go to"
        aria-expanded="true"
        aria-controls="goals"
        aria-activedescendant={goals.length ? `goal-${at}` : undefined}
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setChosen(Math.min(at + 1, goals.length - 1));
          else if (event.key === "ArrowUp") setChosen(Math.max(at - 1, 0));
          else if (event.key === "Enter") open(goals[at]);
          else return;
          event.preventDefault();
        }}
      />
      <div id="goals" role="listbox" aria-label="Page or recording" tabIndex={-1}>
        {goals.map((goal, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={goal.to}
            id={`goal-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => open(goal)}
          >
            <span className="clip">{goal.name}</span>
            <span className="quiet clip">{goal.about}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
