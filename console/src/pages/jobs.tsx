/** Jobs: reproduce, verify, diagnose, fork, bisect, video, report, export, keep. Begun, watched, and what came of them. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import { get, path, remove } from "../client";
import { counted, duration, when, whenExactly } from "../format";
import { useKeys } from "../keys";
import { later, useStream } from "../live";
import type { Job, Recordings } from "../model";
import { ENDED, Progress, useBegin } from "../parts/jobs";
import { Result } from "../parts/results";
import type { operations } from "../schema";
import { useTitle } from "../shell";
import { complain, say } from "../toasts";
import { Failed, Failure, Nothing, Reading, Status } from "../ui";
import "../parts/jobs.css";

type Order = operations["start_api_v1_jobs_post"]["requestBody"]["content"]["application/json"];

/** The kinds that begin here: a fork begins at its step, and a video at its session. */
type Kind = Exclude<Order["kind"], "fork" | "video">;

export default function Jobs() {
  const { id } = useParams();
  return id ? <One key={id} id={id} /> : <All />;
}

function All() {
  useTitle("Jobs");
  const [, go] = useLocation();
  const [here, setHere] = useState(0);
  const jobs = useQuery({
    queryKey: ["jobs"],
    queryFn: async ({ signal }) => (await get<{ items: Job[] }>("/jobs", {}, signal)).items,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.some((job) => !ENDED.includes(job.status)) ? 1000 : false),
  });
  const items = jobs.data ?? [];
  useKeys("Jobs", {
    j: { does: "Next job", run: () => setHere(Math.min(here + 1, items.length - 1)) },
    k: { does: "Previous job", run: () => setHere(Math.max(here - 1, 0)) },
    Enter: { does: "Open it", run: () => items[here] && go(`/jobs/${items[here].id}`) },
  });
  return (
    <div className="page jobs">
      <h1>Jobs</h1>
      <Begin />
      {jobs.error && <Failure error={jobs.error} />}
      {jobs.data && items.length === 0 && (
        <Nothing title="No jobs yet" heading="h2">
          <p>A job runs programs again, or does work that takes long, such as drawing a video.</p>
        </Nothing>
      )}
      <ul className="job-list">
        {items.map((job, at) => (
          <li key={job.id} className={at === here ? "here" : ""}>
            <Link to={`/jobs/${job.id}`}>
              <b>{job.title}</b> <span className="quiet clip">{named(job)}</span>
            </Link>
            <Status of={job.status} />
            <span className="quiet">{when(job.created)}</span>
            <Progress job={job} />
            {job.error && <p className="quiet clip error">{job.error}</p>}
          </li>
        ))}
      </ul>
    </div>
  );
}

const OF_MANY: Kind[] = ["verify", "diagnose"];

/** A line for each kind of job that the server's API has: without one for a new kind, this does not compile. */
const ABOUT: Record<Kind, string> = {
  reproduce: "Replay the program several times to see whether the failure reproduces.",
  verify: "Replay all recordings that match a filter against today's code.",
  diagnose: "Find anomalies in all recordings that match a filter, optionally compared with good ones.",
  bisect: "Find the decisive step: try the answers of a good run in a bad run.",
  report: "Write one page about the failure, to send.",
  export: "Write the recording as one file, or as a page for any browser.",
  keep: "Write the failure as a pytest test, with the recording that it needs.",
};
const KINDS = Object.keys(ABOUT) as Kind[];

/** What is to be done, and with which recordings. */
function Begin() {
  const [words] = useSearchParams();
  const asked = words.get("kind");
  const [kind, setKind] = useState<Kind>(KINDS.find((each) => each === asked) ?? "reproduce");
  const [open, setOpen] = useState(asked !== null);
  const { begin, under } = useBegin();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? "").trim();
    if (OF_MANY.includes(kind)) {
      const options = kind === "diagnose" ? { baseline: text("baseline") } : {};
      try {
        const found = await get<Recordings>("/recordings", { filter: text("filter"), limit: 500 });
        const recordings = found.items.map((line) => line.id);
        if (recordings.length === 0) say("No recordings match", true);
        else await begin({ kind, recordings, options });
      } catch (error) {
        complain(error);
      }
      return;
    }
    const options = {
      reproduce: { times: Number(text("times") || 5) },
      bisect: { good: text("good"), check: text("check") },
      report: { format: text("format") || "html" },
      export: { html: text("format") !== "reenact" },
      keep: { name: text("name") },
    }[kind as Exclude<typeof kind, "verify" | "diagnose">];
    await begin({ kind, recording: text("recording"), options });
  };
  return (
    <details
      className="begin panel"
      open={open}
      onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>Start a job</summary>
      <form onSubmit={submit}>
        <label>
          <span>What</span>
          <select className="field" value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
            {KINDS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <p className="quiet">{ABOUT[kind]}</p>
        {OF_MANY.includes(kind) ? (
          <Field
            name="filter"
            label="Which recordings, as a filter"
            hint="empty: the newest 500"
            begin={words.get("recording") ? `id:${words.get("recording")}` : ""}
          />
        ) : (
          <Field
            name="recording"
            label={kind === "bisect" ? "The bad run" : "The recording"}
            begin={words.get("recording") ?? ""}
            required
          />
        )}
        {kind === "diagnose" && (
          <Field name="baseline" label="Good runs to compare with, as a filter" hint="tag:good" />
        )}
        {kind === "reproduce" && (
          <Field name="times" label="How often" begin="5" type="number" min={1} max={100} />
        )}
        {kind === "bisect" && (
          <>
            <Field name="good" label="The good run" required />
            <Field
              name="check"
              label="A shell command that exits with 0 for a good run"
              hint="empty: the good run's output"
            />
          </>
        )}
        {kind === "report" && (
          <label>
            <span>As</span>
            <select name="format" className="field">
              <option value="html">a page (HTML)</option>
              <option value="md">text (Markdown)</option>
            </select>
          </label>
        )}
        {kind === "export" && (
          <label>
            <span>As</span>
            <select name="format" className="field">
              <option value="html">a page for any browser (.html)</option>
              <option value="reenact">the recording itself (.reenact)</option>
            </select>
          </label>
        )}
        {kind === "keep" && <Field name="name" label="The test's name" hint="empty: by the recording" />}
        <button type="submit" className="button primary" disabled={under}>
          {under ? "Starting …" : "Begin"}
        </button>
      </form>
    </details>
  );
}

function Field({
  name,
  label,
  begin = "",
  hint = "",
  ...more
}: {
  name: string;
  label: string;
  begin?: string;
  hint?: string;
  required?: boolean;
  type?: string;
  min?: number;
  max?: number;
}) {
  return (
    <label>
      <span>{label}</span>
      <input
        name={name}
        className="field mono"
        defaultValue={begin}
        placeholder={hint}
        spellCheck={false}
        autoComplete="off"
        {...more}
      />
    </label>
  );
}

function One({ id }: { id: string }) {
  const [, go] = useLocation();
  const cache = useQueryClient();
  const asked = useQuery({
    queryKey: ["job", id],
    queryFn: ({ signal }) => get<Job>(path("jobs", id), {}, signal),
    staleTime: 0,
    structuralSharing: (known, told) => later(known as Job | undefined, told as Job),
  });
  const job = asked.data;
  useTitle(job ? `${job.title} ${named(job)}` : "Job");
  const goes = job !== undefined && !ENDED.includes(job.status);
  useStream(goes ? `${path("jobs", id)}/live` : null, {
    job: (moved: Job) => cache.setQueryData<Job>(["job", id], (known) => later(known, moved)),
  });
  const end = async () => {
    try {
      await remove(path("jobs", id));
      if (!goes) go("/jobs");
    } catch (error) {
      complain(error);
    }
  };
  useKeys("Job", { Escape: { does: "To all jobs", run: () => go("/jobs") } });
  if (asked.error) return <Failed title="Job" error={asked.error} />;
  if (!job) return <Reading title="Job" />;
  return (
    <div className="page job">
      <header className="row">
        <h1>{job.title}</h1>
        <Status of={job.status} />
        <span className="quiet">
          {whenExactly(job.created)}
          {job.ended && `, took ${duration((Date.parse(job.ended) - Date.parse(job.created)) / 1000)}`}
        </span>
        <button type="button" className="button" onClick={end}>
          {goes ? "End it" : "Forget it"}
        </button>
      </header>
      <p className="row">
        {job.recordings.slice(0, 6).map((each) => (
          <Link key={each} to={`/r/${each}`} className="mono">
            {each}
          </Link>
        ))}
        {job.recordings.length > 6 && <span className="quiet">and {job.recordings.length - 6} more</span>}
      </p>
      <div role="status">
        <Progress job={job} />
      </div>
      {job.error && <Failure error={new Error(job.error)} />}
      {job.status === "done" && <Result job={job} />}
      {job.files.length > 0 && (
        <section>
          <h2>Files</h2>
          <ul className="job-files">
            {job.files.map((file) => (
              <li key={file.name}>
                <a className="button" href={file.url} download={file.name}>
                  {file.name}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function named(job: Job): string {
  return job.recordings.length > 2
    ? counted(job.recordings.length, "recording")
    : job.recordings.join(" and ");
}
