/** Heals: the steps of scripts that needed help over all runs, who helped, and what was learned as a patch. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { get } from "../client";
import { counted, when } from "../format";
import { useKeys } from "../keys";
import type { components } from "../schema";
import { useTitle } from "../shell";
import { copy } from "../toasts";
import { Failure, Nothing } from "../ui";
import "../parts/jobs.css";

type Schemas = components["schemas"];
type Story = Schemas["Story"];

const STATES: Record<Story["state"], [string, string]> = {
  mended: ["good", "the script is mended"],
  verified: ["good", "helped, and verified"],
  unverified: ["warn", "helped, not verified yet"],
  failed: ["bad", "not helped"],
};

export default function Heals() {
  useTitle("Heals");
  const [words, setWords] = useSearchParams();
  const file = words.get("file");
  const heals = useQuery({
    queryKey: ["heals"],
    queryFn: ({ signal }) => get<Schemas["Heals"]>("/heals", {}, signal),
    staleTime: 0,
  });
  const stories = heals.data?.items ?? [];
  const files = [...new Set(stories.map((story) => story.file).filter((each) => each !== null))];
  const [here, setHere] = useState(0);
  const choose = (at: number) => {
    const story = stories[at];
    if (!story) return;
    setHere(at);
    if (story.file) setWords({ file: story.file }, { replace: true });
  };
  useKeys("Heals", {
    j: { does: "Next step", run: () => choose(Math.min(here + 1, stories.length - 1)) },
    k: { does: "Step before", run: () => choose(Math.max(here - 1, 0)) },
  });
  if (heals.error) return <Failure error={heals.error} />;
  if (heals.data && stories.length === 0) {
    return (
      <Nothing title="No script has needed help">
        <p>
          A step of a script that fails inside <code>AgentFallback</code> is helped, and what was learned
          stands here, as a patch to review.
        </p>
      </Nothing>
    );
  }
  return (
    <div className="page heals">
      <h1>Heals</h1>
      <table className="matrix">
        <thead>
          <tr>
            <th scope="col">step</th>
            <th scope="col">where</th>
            <th scope="col">ran</th>
            <th scope="col">helped</th>
            <th scope="col">by</th>
            <th scope="col">now</th>
            <th scope="col">last</th>
          </tr>
        </thead>
        <tbody>
          {stories.map((story, at) => (
            <tr key={story.key} className={at === here ? "here" : ""}>
              <td className="recorded">
                <b>{story.action}</b> <code>{spelled(story.selector)}</code>
              </td>
              <td>
                {story.file ? (
                  <button type="button" className="button bare mono" onClick={() => choose(at)}>
                    {story.file.split("/").pop()}:{story.line}
                  </button>
                ) : (
                  <span className="quiet">no script</span>
                )}
              </td>
              <td>{story.ran ?? ""}</td>
              <td>{story.helped}</td>
              <td>
                {Object.entries(story.rungs)
                  .map(([rung, many]) => (many > 1 ? `${rung} × ${many}` : rung))
                  .join(", ")}
              </td>
              <td>
                <span className={`badge ${STATES[story.state][0]}`}>{STATES[story.state][1]}</span>
              </td>
              <td>
                <Link to={`/r/${story.last.recording}/${story.last.step}`}>{when(story.last.started)}</Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="quiet">{counted(stories.length, "step")} of scripts needed help.</p>
      {(file ?? files[0]) && <Patch key={file ?? files[0]} script={file ?? files[0] ?? ""} />}
    </div>
  );
}

function spelled(selector: unknown): string {
  return typeof selector === "string" ? selector : selector ? JSON.stringify(selector) : "";
}

/** What was learned about one script: a diff to review, to copy, or to keep as a file. */
function Patch({ script }: { script: string }) {
  const patch = useQuery({
    queryKey: ["patch", script],
    queryFn: ({ signal }) => get<Schemas["Patch"]>("/heals/patch", { script }, signal),
    staleTime: 0,
    retry: false,
  });
  const text = patch.data?.patch ?? "";
  return (
    <section className="patch">
      <h2>
        What was learned about <code>{script}</code>
      </h2>
      {patch.error && <Failure error={patch.error} />}
      {patch.data && !patch.data.readable && (
        <p className="quiet">The script is not on this machine: a diff is made where it is.</p>
      )}
      {patch.data?.readable && !text && <p className="quiet">The script has all of it already.</p>}
      {text && (
        <>
          <p className="row">
            <button type="button" className="button" onClick={() => copy(text)}>
              Copy the patch
            </button>
            <a
              className="button"
              href={`data:text/x-diff;charset=utf-8,${encodeURIComponent(text)}`}
              download="heals.patch"
            >
              Download the patch
            </a>
          </p>
          <pre className="panel diff" tabIndex={0}>
            {text.split("\n").map((line, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a patch do not move
              <span key={at} className={toneOf(line)}>
                {line}
                {"\n"}
              </span>
            ))}
          </pre>
        </>
      )}
    </section>
  );
}

function toneOf(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---")) return "quiet";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("@@") ? "quiet" : "";
}
