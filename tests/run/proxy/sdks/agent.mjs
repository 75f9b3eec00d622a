// An agent of the kind that the SDKs' own documentation teaches: streamed answers, several tools, one of which fails,
// questions at once, a stream that is left early, and a provider that is out of order.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const schema = (name) => ({ type: "object", properties: { [name]: { type: "string" } } });
const run = {
  weather: ({ city }) => `sunny in ${city}`,
  stock: () => {
    throw new Error("no stock today");
  },
};
const called = (name, given) => {
  try {
    return run[name](given);
  } catch (error) {
    return `failed: ${error.message}`;
  }
};

const openai = new OpenAI();
const tools = ["weather", "stock"].map((name) => ({ type: "function", function: { name, parameters: schema("city") } }));
const messages = [{ role: "user", content: "What is the weather in Bern, and what is in stock?" }];
for (;;) {
  const stream = openai.chat.completions.stream({ model: "caller", messages, tools });
  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? "");
  const said = (await stream.finalChatCompletion()).choices[0].message;
  messages.push(said);
  if (!said.tool_calls?.length) break;
  for (const call of said.tool_calls) {
    const content = called(call.function.name, JSON.parse(call.function.arguments));
    messages.push({ role: "tool", tool_call_id: call.id, content });
  }
}
console.log();

const claude = new Anthropic();
const asked = (content, more = {}) => ({ model: "teller", max_tokens: 100, messages: [{ role: "user", content }], ...more });
const first = await claude.messages
  .stream(asked("weather?", { model: "caller", tools: [{ name: "weather", input_schema: schema("city") }] }))
  .finalMessage();
for (const block of first.content) if (block.type === "tool_use") console.log(called(block.name, block.input));
const both = await Promise.all([
  claude.messages.create(asked("one")),
  claude.messages.stream(asked("two")).finalMessage(),
]);
console.log(both.map((message) => message.content[0].text));

const same = () => openai.chat.completions.create({ model: "teller", messages: [{ role: "user", content: "same" }] });
console.log((await Promise.all([same(), same(), same()])).map((answer) => answer.choices[0].message.content));

const long = { model: "teller", stream: true, messages: [{ role: "user", content: "a b c d e f g h i j k l m n" }] };
let count = 0;
for await (const _ of await openai.chat.completions.create(long)) if (++count === 3) break;
console.log("left after", count);

try {
  await openai.chat.completions.create({ model: "broken", messages: [{ role: "user", content: "?" }] });
} catch (error) {
  console.log(error.constructor.name, error.status);
}
