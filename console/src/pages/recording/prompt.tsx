/** What a model was asked, with what changed since the call before, and what it answered. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, path } from "../../client";
import type { Message, Messages, ModelCall, StepWhole } from "../../model";
import { compared, WordChanges } from "../../text";
import { Said } from "../../told";
import { Failure } from "../../ui";
import { Part } from "./panel";

export function Prompt({
  id,
  whole,
  model,
  marks,
}: {
  id: string;
  whole: StepWhole;
  model: ModelCall;
  marks: string[];
}) {
  const [all, setAll] = useState(false);
  const { changed } = whole;
  const many = model.known_messages + model.new_messages.length;
  const messages = useQuery({
    queryKey: ["messages", id, whole.step],
    queryFn: ({ signal }) =>
      get<Messages>(path("recordings", id, "steps", whole.step, "messages"), {}, signal),
    enabled: all,
  });
  return (
    <>
      {model.answer && (
        <Part title="Answer">
          <Said message={model.answer} marks={marks} />
        </Part>
      )}
      {model.problem && <p className="failure recorded">{model.problem}</p>}
      <Part title={changed ? `Prompt, since step ${changed.from_step}` : "Prompt"}>
        {changed ? (
          <Changes removed={changed.removed} added={changed.added} marks={marks} />
        ) : (
          <All messages={model.new_messages} marks={marks} />
        )}
        {many > (changed?.added.length ?? model.new_messages.length) && (
          <button type="button" className="button" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Fold" : `All ${many} messages`}
          </button>
        )}
        {all && messages.error && <Failure error={messages.error} />}
        {all && messages.data && <All messages={messages.data.items} marks={marks} />}
      </Part>
    </>
  );
}

function All({ messages, marks }: { messages: Message[]; marks: string[] }) {
  return messages.map((message, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: equal messages are in one prompt
    <Said key={index} message={message} marks={marks} />
  ));
}

/** Messages that went and came; where one was rewritten, word by word. */
function Changes({ removed, added, marks }: { removed: Message[]; added: Message[]; marks: string[] }) {
  if (!removed.length && !added.length)
    return <p className="quiet">The same messages as before, and the answer.</p>;
  const rewritten = removed.map((before) =>
    added.find((after) => after.role === before.role && alike(before.text, after.text)),
  );
  return (
    <>
      {removed.map((before, index) => {
        const after = rewritten[index];
        const key = `-${index}`;
        if (!after) return <Said key={key} message={before} tone="removed" marks={marks} />;
        return (
          <div key={key} className="message rewritten">
            <div className="who">
              <span className="name">{before.role}</span> <span className="quiet">rewritten</span>
            </div>
            <WordChanges words={compared(before.text, after.text)} />
          </div>
        );
      })}
      {added
        .filter((message) => !rewritten.includes(message))
        .map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: equal messages are in one prompt
          <Said key={`+${index}`} message={message} tone={removed.length ? "added" : ""} marks={marks} />
        ))}
    </>
  );
}

/** Whether one text is likely to have come from the other: they begin or end the same. */
function alike(a: string, b: string): boolean {
  const short = Math.min(a.length, b.length);
  let head = 0;
  while (head < short && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < short - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return head + tail > Math.max(a.length, b.length) * 0.3;
}
