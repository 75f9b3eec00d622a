/** JSON without a loss: JavaScript rounds whole numbers beyond 2^53, such as ids of 64 bits. */

/** What newer browsers have, and TypeScript does not know yet. */
const raw = (JSON as unknown as { rawJSON?: (text: string) => unknown }).rawJSON;
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const LONG = /\d{16}/;

const exact: Reviver = (_, value, context) =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
    ? BigInt(context?.source ?? "")
    : value;

/** What a text says; a whole number that JavaScript would round is a BigInt. Throws SyntaxError. */
export function parse(text: string): unknown {
  return LONG.test(text) ? JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]) : JSON.parse(text);
}

const asWritten: Reviver = (_, value, context) =>
  typeof value === "number" && raw && context?.source ? raw(context.source) : value;

/** A JSON text on one line, its numbers as they were written: `1.0` stays a float. Throws SyntaxError. */
export function compacted(text: string): string {
  return JSON.stringify(JSON.parse(text, asWritten as Parameters<typeof JSON.parse>[1]));
}

// JSON.stringify calls it: a BigInt is written as the number that it is.
Object.assign(BigInt.prototype, {
  toJSON(this: bigint): unknown {
    return raw ? raw(this.toString()) : this.toString();
  },
});
