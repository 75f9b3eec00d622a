/** A recorded value as a tree that opens and closes. Of a big one only what is looked at is drawn. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { Text } from "./text";

interface Twig {
  path: string;
  depth: number;
  key: string | null;
  value: unknown;
  /** How many it holds, null for what holds nothing. */
  holds: number | null;
  open: boolean;
}

/** A value in its place: a text as text, anything that holds others as a tree. */
export function Value({ value, marks = [] }: { value: unknown; marks?: string[] }) {
  if (typeof value === "string")
    return value ? <Text text={value} marks={marks} /> : <p className="quiet">an empty text</p>;
  if (typeof value === "object" && value !== null) return <Tree value={value} />;
  return <code className={`value ${kind(value)}`}>{String(value)}</code>;
}

const DRAWN = 150;

export function Tree({ value }: { value: object }) {
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map());
  const twigs = useMemo(() => [...grown(value, turned)], [value, turned]);
  const turn = (twig: Twig) => setTurned((before) => new Map(before).set(twig.path, !twig.open));
  if (twigs.length > DRAWN) return <Long twigs={twigs} turn={turn} />;
  return (
    <ul className="tree">
      {twigs.map((twig) => (
        <li key={twig.path} style={{ paddingLeft: twig.depth * 16 }}>
          <Line twig={twig} turn={turn} />
        </li>
      ))}
    </ul>
  );
}

function Long({ twigs, turn }: { twigs: Twig[]; turn: (twig: Twig) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: twigs.length,
    getScrollElement: () => box.current,
    estimateSize: () => 22,
    overscan: 20,
  });
  return (
    <div ref={box} className="tree long" role="region" aria-label={`${twigs.length} lines`} tabIndex={0}>
      <div style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((item) => {
          const twig = twigs[item.index];
          return (
            twig && (
              <div
                key={twig.path}
                ref={rows.measureElement}
                data-index={item.index}
                className="twig"
                style={{ transform: `translateY(${item.start}px)`, paddingLeft: twig.depth * 16 }}
              >
                <Line twig={twig} turn={turn} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function Line({ twig, turn }: { twig: Twig; turn: (twig: Twig) => void }) {
  const name = twig.key === null ? null : <span className="key">{twig.key}</span>;
  if (twig.holds === null) {
    return (
      <div className="leaf">
        {name}
        <Leaf value={twig.value} />
      </div>
    );
  }
  const list = Array.isArray(twig.value);
  return (
    <button type="button" className="branch" aria-expanded={twig.open} onClick={() => turn(twig)}>
      <span aria-hidden className="caret">
        {twig.open ? "▾" : "▸"}
      </span>
      {name}
      <span className="quiet clip">
        {list ? `[${twig.holds}]` : `{${twig.holds}}`} {!twig.open && glimpse(twig.value)}
      </span>
    </button>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") {
    return value.length > 120 || value.includes("\n") ? (
      <span className="value text block">
        <Text text={value} />
      </span>
    ) : (
      <span className="value text recorded">{JSON.stringify(value)}</span>
    );
  }
  return (
    <span className={`value ${kind(value)}`}>
      {Array.isArray(value) ? "[]" : typeof value === "object" && value ? "{}" : String(value)}
    </span>
  );
}

function kind(value: unknown): string {
  if (typeof value === "bigint") return "number";
  return value === null ? "null" : typeof value;
}

/** The lines of a tree from top to bottom. At first what is small is open, down to the third level. */
function* grown(root: object, turned: ReadonlyMap<string, boolean>): Generator<Twig> {
  const stack: { path: string; depth: number; key: string | null; value: unknown }[] = members(
    root,
    "",
    0,
  ).reverse();
  let count = 0;
  for (let top = stack.pop(); top; top = stack.pop()) {
    const holds = typeof top.value === "object" && top.value !== null ? Object.keys(top.value).length : 0;
    const open = turned.get(top.path) ?? (top.depth < 2 && holds <= 30 && count < 200);
    yield { ...top, holds: holds || null, open };
    count++;
    if (holds && open) {
      for (const member of members(top.value as object, top.path, top.depth + 1).reverse())
        stack.push(member);
    }
  }
}

function members(value: object, path: string, depth: number) {
  return Object.entries(value).map(([key, member]) => ({
    path: `${path}/${key}`,
    depth,
    key,
    value: member as unknown,
  }));
}

function glimpse(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 160) ?? "";
  } catch {
    return "";
  }
}
