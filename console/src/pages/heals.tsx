/** Heals: the steps of scripts that needed help over all runs, who helped, and what was learned as a patch. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { get, post } from "../client";
import { counted, when } from "../format";
import { useKeys } from "../keys";
import { Table } from "../parts/table";
import type { components } from "../schema";
import { useTitle } from "../shell";
import { copy } from "../toasts";
import { Dialog, Failed, Failure, Nothing, Reading } from "../ui";
import "../parts/jobs.css";

type Schemas = components["schemas"];
type Story = Schemas["HealedStepView"];

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
    queryFn: ({ signal }) => get<Schemas["HealsView"]>("/heals", {}, signal),
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
    k: { does: "Previous step", run: () => choose(Math.max(here - 1, 0)) },
  });
  if (heals.error) return <Failed title="Heals" error={heals.error} />;
  if (!heals.data) return <Reading title="Heals">Reading the heals…</Reading>;
  if (stories.length === 0) {
    return (
      <Nothing title="No step needed help">
        <p>
          A step of a script that fails inside <code>AgentFallback</code> is repaired by an agent. Each repair
          is listed here, as a patch to review.
        </p>
      </Nothing>
    );
  }
  return (
    <div className="page heals">
      <h1>Heals</h1>
      <Table heads={["step", "now", "where", "ran", "helped", "by", "last"]}>
        {stories.map((story, at) => (
          <tr key={story.key} className={at === here ? "here" : ""}>
            <td className="recorded">
              <b>{story.action}</b> <code>{spelled(story.selector)}</code>
            </td>
            <td>
              <span className={`badge ${STATES[story.state][0]}`}>{STATES[story.state][1]}</span>
            </td>
            <td className="place">
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
              <Link to={`/r/${story.last.recording}/${story.last.step}`}>{when(story.last.started)}</Link>
            </td>
          </tr>
        ))}
      </Table>
      <p className="quiet">{counted(stories.length, "step")} of scripts needed help.</p>
      {(file ?? files[0]) && <Patch key={file ?? files[0]} script={file ?? files[0] ?? ""} />}
    </div>
  );
}

function spelled(selector: unknown): string {
  return typeof selector === "string" ? selector : selector ? JSON.stringify(selector) : "";
}

/** What was learned about one script: a diff to review, to copy, to keep as a file, or to apply where the script is. */
function Patch({ script }: { script: string }) {
  const patch = useQuery({
    queryKey: ["patch", script],
    queryFn: ({ signal }) => get<Schemas["PatchView"]>("/heals/patch", { script }, signal),
    staleTime: 0,
    retry: false,
  });
  const [asking, setAsking] = useState(false);
  const [applied, setApplied] = useState("");
  const told = patch.data;
  const text = told?.patch ?? "";
  const changes = text.split("\n").some((line) => line.startsWith("@@"));
  return (
    <section className="patch">
      <h2>
        What was learned about <code>{script}</code>
      </h2>
      {patch.error && <Failure error={patch.error} />}
      <p role="status" className={applied ? "panel said" : ""}>
        {applied}
      </p>
      {told && !told.readable && (
        <p className="quiet">
          The script that was run is not on the server's machine: <code>reenact heals --patch</code> makes a
          diff where it is.
        </p>
      )}
      {told?.readable && !changes && <p className="quiet">There is nothing to change in the script.</p>}
      {text && (
        <>
          <p className="row">
            {changes && !told?.refusal && (
              <button type="button" className="button primary" onClick={() => setAsking(true)}>
                Apply to the script …
              </button>
            )}
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
          {changes && told?.refusal && <p className="quiet">Not to be applied from here: {told.refusal}.</p>}
          <Lines text={text} />
        </>
      )}
      {asking && told && (
        <Apply
          patch={told}
          close={() => {
            setAsking(false);
            void patch.refetch();
          }}
          done={(said) => {
            setAsking(false);
            setApplied(said);
            void patch.refetch();
          }}
        />
      )}
    </section>
  );
}

/** The last question before a file is changed: what was read is what is applied, or nothing is. */
function Apply({
  patch,
  close,
  done,
}: {
  patch: Schemas["PatchView"];
  close: () => void;
  done: (said: string) => void;
}) {
  const [under, setUnder] = useState(false);
  const [wrong, setWrong] = useState("");
  const apply = async () => {
    setUnder(true);
    try {
      const told = await post<Schemas["AppliedView"]>("/heals/patch", {
        script: patch.file,
        mark: patch.mark,
      });
      done(`${counted(told.changed, "selector")} changed in ${told.file}; ${told.kept}.`);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    } finally {
      setUnder(false);
    }
  };
  return (
    <Dialog title="Apply the patch" close={close} className="asking wide">
      <h2>Change the script on the server's disk?</h2>
      <p className="quiet">
        <code>{patch.file}</code> becomes what the diff says, if nothing of it has changed meanwhile. Its old
        text is kept: by git, or beside it.
      </p>
      <Lines text={patch.patch} />
      <p className={wrong ? "failure" : ""} role="status">
        {wrong}
      </p>
      <p className="row">
        <button type="button" className="button primary" disabled={under || Boolean(wrong)} onClick={apply}>
          Change the script
        </button>
        <button type="button" className="button" onClick={close}>
          Leave it as it is
        </button>
      </p>
    </Dialog>
  );
}

/** A patch, line by line, in the colours of a diff. */
function Lines({ text }: { text: string }) {
  return (
    <pre className="panel diff" tabIndex={0}>
      {text.split("\n").map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a patch do not move
        <span key={at} className={toneOf(line)}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

function toneOf(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---")) return "quiet";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("@@") ? "quiet" : "";
}
