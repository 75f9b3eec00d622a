/** Parts of a recording that several places show: tools that a model asks for, and what is odd. */

import type { Call, Finding, Message } from "./model";
import { Text } from "./text";
import { Value } from "./tree";

/** The tools that a model's answer asks for. */
export function Calls({ calls }: { calls: Call[] }) {
  return (
    <ul className="calls">
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two calls may be equal
        <li key={index}>
          <details>
            <summary>
              <span className="name">{call.name}</span>{" "}
              <span className="quiet clip mono">{inline(call.args)}</span>
            </summary>
            <Value value={call.args} />
          </details>
        </li>
      ))}
    </ul>
  );
}

function inline(args: unknown): string {
  if (typeof args !== "object" || args === null) return String(args ?? "");
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ")
    .slice(0, 200);
}

/** One message of a prompt, or an answer. */
export function Said({
  message,
  tone = "",
  marks = [],
}: {
  message: Message;
  tone?: string;
  marks?: string[];
}) {
  return (
    <div className={`message ${message.role} ${tone}`}>
      <div className="who">
        {tone === "added" && <span className="sign">+</span>}
        {tone === "removed" && <span className="sign">−</span>}
        <span className="name">{message.role}</span>
        {message.name && <span className="quiet">{message.name}</span>}
      </div>
      {message.thinking && (
        <details className="thinking">
          <summary>Thinking</summary>
          <Text text={message.thinking} />
        </details>
      )}
      {message.text && <Text text={message.text} marks={marks} />}
      {message.calls && message.calls.length > 0 && <Calls calls={message.calls} />}
    </div>
  );
}

const TONES = { error: "bad", warning: "warn", info: "" } as const;

/** What a rule found odd: in colour where its rule is mostly right, else a note. */
export function Odd({ finding }: { finding: Finding }) {
  return (
    <p className={`odd-here ${finding.pill ? TONES[finding.severity] : ""}`}>
      <strong>{finding.rule}</strong> <span className="recorded">{finding.sentence}</span>
    </p>
  );
}
