/** Trends: runs, failures, cost, tokens and time over days or hours. */

import { useQueryClient } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { count, counted, duration } from "../../format";
import type { Bucket } from "../../model";
import { Table } from "../../parts/table";
import { useTitle } from "../../shell";
import { Failure, Nothing } from "../../ui";
import { useFresh } from "../recordings/fresh";
import { Chart, costOf, MEASURES, type Measure, unknown, useTrends } from "../recordings/trends";
import "./trends.css";

export default function TrendsPage() {
  useTitle("Trends");
  const [words, setWords] = useSearchParams();
  const filter = words.get("q") ?? "";
  const { trends, buckets } = useTrends(filter);
  useFresh(useQueryClient(), filter);
  const by = trends.data?.by ?? "day";
  return (
    <div className="page trends-page">
      <header className="row">
        <h1>Trends</h1>
        <form
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            const q = String(new FormData(event.currentTarget).get("q") ?? "").trim();
            setWords(q ? { q } : {});
          }}
        >
          <input
            key={filter}
            name="q"
            className="field mono"
            aria-label="Only recordings that match"
            placeholder="all recordings, or a filter: tag:staging"
            defaultValue={filter}
            spellCheck={false}
            autoComplete="off"
          />
          <button type="submit" className="button">
            Show
          </button>
        </form>
      </header>
      {trends.error && <Failure error={trends.error} />}
      {trends.data?.complete === false && buckets.length === 0 && (
        <Nothing title="Reading recordings…" heading="h2" />
      )}
      {trends.data?.complete && buckets.length === 0 && (
        <Nothing title="No recordings match" heading="h2">
          <p>
            {filter ? "Change the filter, or empty it." : "Each recording appears here when it has ended."}
          </p>
        </Nothing>
      )}
      {buckets.length > 0 && <Charts buckets={buckets} by={by} filter={filter} />}
    </div>
  );
}

function Charts({ buckets, by, filter }: { buckets: Bucket[]; by: "hour" | "day"; filter: string }) {
  const sum = (of: (at: Bucket) => number) => buckets.reduce((all, at) => all + of(at), 0);
  const runs = sum((at) => at.recordings);
  const failed = sum((at) => at.failed);
  return (
    <>
      <dl className="sums">
        <Sum name="Runs" value={count(runs)} />
        <Sum name="Failed" value={`${count(failed)} (${Math.round((100 * failed) / runs)} %)`} />
        <Sum name="Cost" value={costOf(buckets)} />
        <Sum name="Tokens" value={count(sum((at) => at.tokens))} />
      </dl>
      <div className="charts">
        {(Object.keys(MEASURES) as Measure[]).map((name) => (
          <figure key={name}>
            <figcaption>
              <h2>{MEASURES[name].name}</h2>
              <span className="quiet">
                {name === "cost" && unknown(buckets)
                  ? "unknown: no price of these models is known"
                  : `${MEASURES[name].about}, by ${by}`}
              </span>
            </figcaption>
            <Chart buckets={buckets} measure={name} by={by} told={spoken(name, buckets)} />
          </figure>
        ))}
      </div>
      <details>
        <summary>As a table</summary>
        <div className="wide-table">
          <Table heads={[by, "runs", "failed", "cost", "tokens", "median time", "slowest 5 %"]}>
            {buckets.toReversed().map((at) => (
              <tr key={at.at}>
                <td>{written(at.at, by)}</td>
                <td>{count(at.recordings)}</td>
                <td>{count(at.failed)}</td>
                <td>{costOf([at])}</td>
                <td>{count(at.tokens)}</td>
                <td>{duration(at.p50)}</td>
                <td>{duration(at.p95)}</td>
              </tr>
            ))}
          </Table>
        </div>
      </details>
      <p className="quiet">
        {counted(runs, "run")} of the last 60 days at most.{" "}
        <Link to={filter ? `/?q=${encodeURIComponent(filter)}` : "/"}>Show them in the list</Link>
      </p>
    </>
  );
}

function Sum({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt className="quiet">{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** A chart in a sentence, for readers who cannot see it. */
function spoken(measure: Measure, buckets: Bucket[]): string {
  const { name, about, of, write } = MEASURES[measure];
  if (measure === "cost" && unknown(buckets)) return `${name}: unknown`;
  const values = buckets.map((at) => of(at)[0] ?? 0);
  const last = values.at(-1) ?? 0;
  return `${name}, ${about}: from ${write(Math.min(...values))} to ${write(Math.max(...values))}, last ${write(last)}`;
}

function written(at: string, by: string): string {
  return by === "hour" ? at.slice(0, 16).replace("T", " ") : at.slice(0, 10);
}
