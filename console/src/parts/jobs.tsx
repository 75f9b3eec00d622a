/** Work that the server does: how it is begun from a recording, and how far it is. */

import { useState } from "react";
import { useLocation } from "wouter";
import { post } from "../client";
import type { Job } from "../model";
import { complain } from "../toasts";

export const ENDED = ["done", "failed", "cancelled"];

/** The kinds of jobs that run the recorded program. */
const RUNS = ["bisect", "fork", "prove", "replay", "reproduce", "verify"];

/** Start a job, and go where it is shown. */
export function useBegin(): { begin: (order: unknown) => Promise<void>; under: boolean } {
  const [, go] = useLocation();
  const [under, setUnder] = useState(false);
  const begin = async (order: unknown) => {
    setUnder(true);
    try {
      const job = await post<Job>("/jobs", order);
      go(`/jobs/${job.id}`);
    } catch (error) {
      complain(error);
    } finally {
      setUnder(false);
    }
  };
  return { begin, under };
}

export function Progress({ job }: { job: Job }) {
  const { done, total, label } = job.progress;
  const doing = label || (RUNS.includes(job.kind) ? "the program runs again" : "at work");
  if (ENDED.includes(job.status)) return null;
  return (
    <div className="job-progress">
      <progress
        aria-label={`Progress of ${job.title}`}
        {...(total && job.status === "running" ? { value: done, max: total } : {})}
      />
      <span className="quiet clip">
        {job.status === "queued" ? "waiting" : total ? `${done} of ${total} ${label}` : doing}
      </span>
    </div>
  );
}
