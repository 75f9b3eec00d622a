/** The JSX of all pages: each text that it puts on a page is made visible, so that no page has to think of it. */

import { Fragment, type Key, type ReactElement } from "react";
import { jsx as one, jsxs as several } from "react/jsx-runtime";
import { visible } from "../visible";

export type { JSX } from "react";
export { Fragment };

type Make = (type: never, props: Record<string, unknown>, key?: Key) => ReactElement;

/** The properties that are shown or read out, of elements and of components that give them to one. */
const SHOWN = ["children", "title", "alt", "aria-label"];

function written(node: unknown): unknown {
  if (typeof node === "string") return visible(node);
  if (!Array.isArray(node)) return node;
  const nodes = node.map(written);
  return nodes.some((each, place) => each !== node[place]) ? nodes : node;
}

function made(make: Make): Make {
  return (type, props, key) => {
    const changed = SHOWN.map((name) => [name, written(props[name])] as const).filter(
      ([name, node]) => node !== props[name],
    );
    return make(type, changed.length ? { ...props, ...Object.fromEntries(changed) } : props, key);
  };
}

export const jsx = made(one as Make);
export const jsxs = made(several as Make);
/** For `npm run dev`. */
export const jsxDEV: Make = (type, props, key) =>
  (Array.isArray(props.children) ? jsxs : jsx)(type, props, key);
