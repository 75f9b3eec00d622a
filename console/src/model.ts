/** What the server answers, by the names that the pages use. */

/** One recording in a list. */
export interface Line {
  id: string;
  name: string | null;
  status: string;
  problem: string | null;
  started: string;
  duration: number | null;
  steps: number;
  failed_steps: number;
  models: string[];
  tokens: { input: number; output: number };
  cost: number | null;
  tags: Record<string, string>;
  imported: string | null;
  parent: { id: string; step: number | null; how: string } | null;
  anomalies: number | null;
  found_in: number[];
  sessions: number;
  live: boolean;
}

/** Work that the server does. */
export interface Job {
  id: string;
  kind: string;
  status: "queued" | "running" | "done" | "failed" | "cancelled";
  progress: { done: number; total: number | null; label: string };
  result: unknown;
  error: string | null;
  files: { name: string; url: string }[];
  created: string;
  ended: string | null;
}

/** Who asks. */
export interface Me {
  project: string;
  role: "read" | "write" | "admin";
}
