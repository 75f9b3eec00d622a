/** Label a recording and write a note on it: good, bad, or a word of one's own. */

import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { path, put } from "../../client";
import type { Whole } from "../../model";
import { say } from "../../toasts";
import { Dialog, Failure } from "../../ui";

/** Labels that are offered; others are typed. */
const OFFERED = ["good", "bad", "unsure"];

export function LabelDialog({ line, close }: { line: Whole; close: () => void }) {
  const cache = useQueryClient();
  const [labels, setLabels] = useState<readonly string[]>(line.labels);
  const [fresh, setFresh] = useState("");
  const [note, setNote] = useState(line.note ?? "");
  const [wrong, setWrong] = useState<unknown>(null);
  const [under, setUnder] = useState(false);
  const toggle = (label: string) =>
    setLabels((known) => (known.includes(label) ? known.filter((one) => one !== label) : [...known, label]));
  const keep = async (event: FormEvent) => {
    event.preventDefault();
    setUnder(true);
    const typed = fresh.split(/[\s,]+/).filter(Boolean);
    try {
      const whole = await put<Whole>(path("recordings", line.id, "labels"), {
        labels: [...new Set([...labels, ...typed])],
        note,
      });
      cache.setQueryData(["recording", line.id], whole);
      void cache.invalidateQueries({ queryKey: ["facets"] });
      say("The labels and the note are saved");
      close();
    } catch (error) {
      setWrong(error);
      setUnder(false);
    }
  };
  return (
    <Dialog title="Labels and note" close={close} className="asking">
      <form onSubmit={keep} className="labelling">
        <h2>Labels and note</h2>
        <fieldset>
          <legend>Labels</legend>
          {[...new Set([...OFFERED, ...line.labels])].map((label) => (
            <button
              key={label}
              type="button"
              className="button"
              aria-pressed={labels.includes(label)}
              onClick={() => toggle(label)}
            >
              {label}
            </button>
          ))}
        </fieldset>
        <label>
          Other labels, with spaces between
          <input
            className="field"
            spellCheck={false}
            value={fresh}
            onChange={(event) => setFresh(event.target.value)}
          />
        </label>
        <label>
          Note
          <textarea
            className="field"
            rows={4}
            maxLength={10_000}
            value={note}
            onChange={(event) => setNote(event.target.value)}
          />
        </label>
        {wrong !== null && <Failure error={wrong} />}
        <p className="row">
          <button type="submit" className="button primary" disabled={under}>
            Save
          </button>
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
