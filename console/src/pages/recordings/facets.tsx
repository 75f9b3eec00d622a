/** What the recordings have in common: a click narrows the list down, another one widens it. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get } from "../../client";
import { has, sought, toggled, unfinished } from "../../filter";
import { count } from "../../format";
import type { Facets, FacetValue } from "../../model";

const NAMES = {
  status: "Status",
  agent: "Agent",
  model: "Model",
  tag: "Tag",
  anomaly: "Anomaly",
  cost: "Cost",
} as const;

export function FacetList({ filter, change }: { filter: string; change: (filter: string) => void }) {
  const facets = useQuery({
    queryKey: ["facets", filter],
    queryFn: ({ signal }) => get<Facets>("/recordings/facets", { filter: sought(filter) }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => unfinished(state.data),
  });
  if (!facets.data) return null;
  const { data } = facets;
  return (Object.keys(NAMES) as (keyof typeof NAMES)[])
    .filter((name) => data[name].length > 0)
    .map((name) => (
      <Facet key={name} title={NAMES[name]} values={data[name]} filter={filter} change={change} />
    ));
}

const SHOWN = 6;

function Facet({
  title,
  values,
  filter,
  change,
}: {
  title: string;
  values: FacetValue[];
  filter: string;
  change: (filter: string) => void;
}) {
  const [all, setAll] = useState(false);
  const shown = all ? values : values.slice(0, SHOWN);
  return (
    <section className="facet">
      <h2>{title}</h2>
      <ul>
        {shown.map((one) => (
          <li key={one.filter}>
            <button
              type="button"
              aria-pressed={has(filter, one.filter)}
              title={one.filter}
              onClick={() => change(toggled(filter, one.filter))}
            >
              <span className="clip">{one.value}</span>
              <span className="many">{count(one.count)}</span>
            </button>
          </li>
        ))}
      </ul>
      {values.length > SHOWN && (
        <button type="button" className="more" onClick={() => setAll(!all)}>
          {all ? "Fewer" : `${values.length - SHOWN} more`}
        </button>
      )}
    </section>
  );
}
