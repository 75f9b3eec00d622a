/** Saved views: a filter and an order under a name, kept by the server for all who use the project. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, path, put, remove } from "../../client";
import type { SavedViews } from "../../model";
import { complain } from "../../toasts";
import type { Asked } from "./asked";

const KEY = ["views"];

/** The views of the project, and what changes them: the answer to a change is the new list. */
function useViews() {
  const cache = useQueryClient();
  const found = useQuery({ queryKey: KEY, queryFn: ({ signal }) => get<SavedViews>("/views", {}, signal) });
  const change = useMutation({
    mutationFn: (ask: () => Promise<SavedViews>) => ask(),
    onSuccess: (views) => cache.setQueryData(KEY, views),
    onError: complain,
  });
  return { views: found.data?.items ?? [], change: change.mutate };
}

export function Views({ asked }: { asked: Asked }) {
  const { views: all, change } = useViews();
  const [name, setName] = useState<string | null>(null);
  const here = (view: { filter: string; sort: string }) =>
    view.filter === asked.filter && view.sort === asked.sort;
  const savable = asked.special && !all.some(here);
  if (all.length === 0 && !savable) return null;
  const save = () => {
    const called = name?.trim();
    if (!called) return;
    change(() => put<SavedViews>("/views", { name: called, filter: asked.filter, sort: asked.sort }));
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
              onClick={() => change(() => remove<SavedViews>(path("views", view.name)))}
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
            pattern="[^\/.][^\/]*"
            title="without a slash, and no dot at its beginning"
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
