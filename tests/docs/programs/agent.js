// An agent in another language: it asks a model, and prints the answer.
const answer = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
  method: "POST",
  headers: { Authorization: `Bearer ${process.env.OPENAI_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({
    model: "gpt-5-mini",
    messages: [
      { role: "user", content: "Where is my order ORD-5521?" },
      { role: "tool", tool_call_id: "call_1", content: "shipped" },
    ],
  }),
});
console.log((await answer.json()).choices[0].message.content);
