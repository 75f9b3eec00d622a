/** Two steps that belong together, and what differs between them. */

import { Link } from "wouter";
import { duration } from "../../format";
import type { Difference, Pair, PairStep } from "../../model";
import { compared, WordChanges } from "../../text";
import { Value } from "../../tree";

const SIGNS = { same: "=", changed: "≠", inserted: "+", deleted: "−", moved: "↕" } as const;
const WORDS = {
  same: "the same",
  changed: "changed",
  inserted: "only in B",
  deleted: "only in A",
  moved: "moved",
} as const;

export function PairRow({
  pair,
  a,
  b,
  here,
  parting,
  point,
}: {
  pair: Pair;
  a: string;
  b: string;
  here: boolean;
  parting: string | null;
  point: () => void;
}) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys n and p go from one to the next
    <div className={`pair ${pair.kind} ${here ? "here" : ""}`} onMouseDown={point}>
      {parting !== null && <p className="parting">First difference: {parting}</p>}
      <div className="steps-of-both">
        <Half step={pair.a} id={a} letter="A" />
        <span className="sign" title={WORDS[pair.kind]}>
          <span aria-hidden>{SIGNS[pair.kind]}</span>
          <span className="unseen">{WORDS[pair.kind]}</span>
        </span>
        <Half step={pair.b} id={b} letter="B" />
      </div>
      {pair.carried && <p className="quiet carried">It differs only in parts that differed before.</p>}
      {pair.differences.length > 0 && <Differences differences={pair.differences} />}
    </div>
  );
}

function Half({ step, id, letter }: { step: PairStep | null; id: string; letter: string }) {
  if (!step) return <span className="half none quiet">nothing in {letter}</span>;
  return (
    <Link to={`/r/${id}/${step.step}`} className="half">
      <span className="quiet number">{step.step}</span>
      <span className={`kind kind-${step.kind}`}>{step.kind}</span>
      <span className="clip name">{step.name}</span>
      {step.status === "error" && <span className="badge bad">error</span>}
      <span className="quiet took">{duration(step.duration)}</span>
    </Link>
  );
}

export function Differences({ differences }: { differences: Difference[] }) {
  return (
    <dl className="differences">
      {differences.map((one) => (
        <div key={one.path}>
          <dt>
            <code className="recorded">{one.path}</code> {one.who && <span className="quiet">{one.who}</span>}
          </dt>
          <dd>
            <Both difference={one} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Both({ difference }: { difference: Difference }) {
  const { a, b, words } = difference;
  if (words) return <WordChanges words={words.map(([kind, text]) => [kind, text])} />;
  if (typeof a === "string" && typeof b === "string") return <WordChanges words={compared(a, b)} />;
  return (
    <div className="sides">
      {"a" in difference && (
        <div className="removed">
          <Value value={a} />
        </div>
      )}
      {"b" in difference && (
        <div className="added">
          <Value value={b} />
        </div>
      )}
    </div>
  );
}
