/** Recorded text: shown as text, whatever it is. Very long ones show their beginning until one asks for all. */

import { diffWordsWithSpace } from "diff";
import { type ReactNode, useMemo, useState } from "react";
import { visible } from "./visible";

const CHARACTERS = 1500;
const LINES = 24;

export function Text({ text, marks = [], more = 0 }: { text: string; marks?: string[]; more?: number }) {
  const [all, setAll] = useState(false);
  const cut = useMemo(() => beginning(text), [text]);
  const folded = !all && cut < text.length;
  const shown = folded ? text.slice(0, cut) : text;
  return (
    <div className="recorded">
      <Marked text={shown} marks={marks} />
      {folded && (
        <>
          …{" "}
          <button type="button" className="unfold" onClick={() => setAll(true)}>
            {(text.length - cut).toLocaleString("en")} more characters
          </button>
        </>
      )}
      {!folded && more > 0 && <span className="quiet"> … {more.toLocaleString("en")} more in the step</span>}
    </div>
  );
}

/** Where the part ends that is shown at first; the end of the text where it is short enough. */
function beginning(text: string): number {
  let place = -1;
  for (let line = 0; line < LINES; line++) {
    place = text.indexOf("\n", place + 1);
    if (place === -1 || place > CHARACTERS) break;
  }
  const cut = place === -1 ? CHARACTERS : Math.min(place, CHARACTERS);
  // A button that shows ten characters more is of no use.
  return text.length - cut < 200 ? text.length : cut;
}

/** A text in which some words are marked. */
export function Marked({ text: recorded, marks }: { text: string; marks: string[] }): ReactNode {
  const text = visible(recorded);
  if (marks.length === 0) return text;
  const found = new RegExp(`(${marks.map(escaped).join("|")})`, "gi");
  return text.split(found).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name
    index % 2 ? <mark key={index}>{part}</mark> : part,
  );
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The words that a filter looks for in texts: those in quotes, and behind `text ~`. */
export function looked(filter: string): string[] {
  const quoted = [...filter.matchAll(/"([^"]+)"|'([^']+)'/g)].map((match) => match[1] ?? match[2] ?? "");
  const plain = [...filter.matchAll(/\b(?:text|error)\s*~\s*(\w+)/g)].map((match) => match[1] ?? "");
  return [...quoted, ...plain].filter(Boolean);
}

/** What the server says of two texts, word by word: `=` in both, `-` only in the first, `+` only in the second. */
export type Words = (readonly ["=" | "-" | "+", string])[];

/** Two texts word by word, where the server did not compare them. */
export function compared(before: string, after: string): Words {
  // Beyond this the comparison takes seconds, and nobody reads it word by word.
  if (before.length + after.length > 60_000)
    return [
      ["-", before],
      ["+", after],
    ];
  return diffWordsWithSpace(before, after).map((part) => [
    part.added ? "+" : part.removed ? "-" : "=",
    part.value,
  ]);
}

/** Words that went and came, in one text. What is equal for long is folded. */
export function WordChanges({ words }: { words: Words }) {
  const [all, setAll] = useState(false);
  if (!words.some(([kind]) => kind === "=")) {
    return words.map(([kind, text]) => (
      <div key={kind} className={kind === "-" ? "whole removed" : "whole added"}>
        <span className="unseen">{kind === "-" ? "before: " : "after: "}</span>
        <Text text={text} />
      </div>
    ));
  }
  return (
    <div className="recorded words">
      {words.map(([kind, text], index) => {
        const key = `${index}${kind}`;
        if (kind === "-") return <del key={key}>{text}</del>;
        if (kind === "+") return <ins key={key}>{text}</ins>;
        if (all || text.length < 400) return <span key={key}>{text}</span>;
        return (
          <span key={key}>
            {index > 0 && text.slice(0, 120)}
            <button type="button" className="unfold" onClick={() => setAll(true)}>
              … {(text.length - 240).toLocaleString("en")} equal …
            </button>
            {index < words.length - 1 && text.slice(-120)}
          </span>
        );
      })}
    </div>
  );
}
