/** The files of a run: what it or one of its steps changed, line by line. */

import { useQuery } from "@tanstack/react-query";
import { get, path } from "../client";
import { counted } from "../format";
import type { FileChange, FileChanges, Files } from "../model";
import { Failure } from "../ui";

/** The files of a run at its end, and the folders that they lie in. */
export function useFiles(id: string, live = false) {
  return useQuery({
    queryKey: ["files", id],
    queryFn: ({ signal }) => get<Files>(path("recordings", id, "files"), {}, signal),
    staleTime: live ? 0 : Number.POSITIVE_INFINITY,
  });
}

/** What a step, or the whole run where none is named, changed in files. */
export function ChangedFiles({ id, step, roots }: { id: string; step: number | null; roots: string[] }) {
  const changes = useQuery({
    queryKey: ["file-changes", id, step],
    queryFn: ({ signal }) => get<FileChanges>(path("recordings", id, "files", "changes"), { step }, signal),
  });
  if (changes.error) return <Failure error={changes.error} />;
  if (!changes.data) return <p className="quiet">Reading the files…</p>;
  const { files, left_out } = changes.data;
  return (
    <div className="changed-files">
      {files.length === 0 && (
        <p className="quiet">{step === null ? "The run" : `Step ${step}`} changed no files.</p>
      )}
      {files.map((file) => (
        <File key={file.path} file={file} roots={roots} open={files.length <= OPEN} />
      ))}
      {left_out ? <p className="quiet">and {counted(left_out, "more file")}</p> : null}
      {step === null && files.length > 0 && (
        <p className="quiet">
          <code>reenact files {id} --out FOLDER</code> restores all files as they were.
        </p>
      )}
    </div>
  );
}

/** So many files at most are open at first. */
const OPEN = 3;

const SIGNS = { added: "+", changed: "~", removed: "−", same: "" } as const;
const TONES = { added: "good", changed: "warn", removed: "bad", same: "" } as const;

function File({ file, roots, open }: { file: FileChange; roots: string[]; open: boolean }) {
  return (
    <details className="changed-file" open={open}>
      <summary>
        <span className={`badge ${TONES[file.change]}`}>
          <span aria-hidden>{SIGNS[file.change]}</span> {file.change}
        </span>{" "}
        <code title={file.path}>{within(file.path, roots)}</code>
      </summary>
      <section className="lines" tabIndex={0} aria-label={`Changed lines of ${file.path}`}>
        {file.lines.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
          <span key={at} className={KINDS[line[0] ?? ""] ?? ""}>
            {line}
          </span>
        ))}
        {file.left_out > 0 && <span className="quiet">… {counted(file.left_out, "more line")}</span>}
      </section>
    </details>
  );
}

const KINDS: Record<string, string> = { "+": "added", "-": "removed", "@": "quiet" };

/** A path without the folder of the run. */
function within(file: string, roots: string[]): string {
  const root = roots.filter((each) => file.startsWith(`${each}/`)).toSorted((a, b) => b.length - a.length)[0];
  return root ? file.slice(root.length + 1) : file;
}
