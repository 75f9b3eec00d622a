// A travel agent in JavaScript, without any package: chat completions by fetch, with tools that run side by side.
//
// # /// framework
// # title = "JavaScript, by the proxy"
// # package = "starlette"
// # wire = "chat"
// # page = "proxy.md"
// # hook = "the recording proxy (a starlette application, whose version is shown; `REENACT_PROXY=TRAVEL_URL` for its tools)"
// # model = "http:POST */v1/chat/completions"
// # tool = "http:GET */{name}"
// # edit = "body.degrees = -40"
// # runs = "node"
// # [absent]
// # state = "only the requests of another process are recorded"
// # ///

const QUESTION = "I travel from Paris to Tokyo. Is it warmer there, and what is a euro worth?";
const THEN = "Thanks. And in one word?";
const model = "gpt-4o-mini";
const functions = [
  ["weather", "The temperature in a city, in degrees Celsius.", "city"],
  ["rate", "How much of a currency one euro buys. The service is busy at times: then ask again.", "currency"],
].map(([name, description, argument]) => {
  const properties = { [argument]: { type: "string" } };
  const parameters = { type: "object", properties, required: [argument], additionalProperties: false };
  return { type: "function", function: { name, description, parameters } };
});

function ask(more) {
  return fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
    body: JSON.stringify({ model, ...more }),
  });
}

async function tool(call) {
  const { name, arguments: given } = call.function;
  const response = await fetch(`${process.env.TRAVEL_URL}/${name}?${new URLSearchParams(JSON.parse(given))}`);
  const text = await response.text();
  const content = response.ok ? text : `error: the service said ${response.status}`;
  console.log(name, given, "gave", content);
  return { role: "tool", tool_call_id: call.id, content };
}

async function* deltas(response) {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines)
      if (line.startsWith("data: {")) for (const choice of JSON.parse(line.slice(6)).choices) yield choice.delta;
  }
}

async function answer(messages) {
  let content = "";
  const calls = [];
  for await (const delta of deltas(await ask({ messages, tools: functions, max_tokens: 200, stream: true }))) {
    if (delta.content) {
      content += delta.content;
      process.stdout.write(`${delta.content}|`);
    }
    for (const more of delta.tool_calls ?? []) {
      if (more.id) calls.push({ id: more.id, type: "function", function: { ...more.function } });
      else calls.at(-1).function.arguments += more.function.arguments;
    }
  }
  return { role: "assistant", content: content || null, ...(calls.length ? { tool_calls: calls } : {}) };
}

const messages = [{ role: "user", content: QUESTION }];
for (let turn = 0; turn < 8; turn++) {
  const message = await answer(messages);
  messages.push(message);
  if (!message.tool_calls) break;
  messages.push(...(await Promise.all(message.tool_calls.map(tool))));
}
messages.push({ role: "user", content: THEN });
const last = await (await ask({ messages, max_tokens: 50 })).json();
console.log(`\n${last.choices[0].message.content}`);
