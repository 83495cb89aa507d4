// Our client's tools with the AI SDK itself: a model that is scripted calls them.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { assert, KEY, run, URL_OF } from "./steps.mjs";

const require = createRequire(process.env.MODULES + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { generateText, jsonSchema, stepCountIs } = await load("ai");
const { MockLanguageModelV2 } = await load("ai/test");
const { Memory } = await import(process.env.CLIENT);
const { memoryTools } = await import(process.env.CLIENT.replace("index.js", "ai.js"));
const memory = new Memory(URL_OF, KEY, process.env.WORKSPACE);
const tools = memoryTools(memory, { jsonSchema, userId: "yara", threadId: "ai" });
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** What a model that calls one tool and then says "Done." got from it. */
async function called(toolName, input) {
  const call = { type: "tool-call", toolCallId: "1", toolName, input: JSON.stringify(input) };
  const turns = [
    { content: [call], finishReason: "tool-calls" },
    { content: [{ type: "text", text: "Done." }], finishReason: "stop" },
  ];
  const model = new MockLanguageModelV2({
    doGenerate: async () => ({ ...turns.shift(), usage, warnings: [] }),
  });
  const answer = await generateText({ model, tools, prompt: "Go.", stopWhen: stepCountIs(3) });
  assert.equal(answer.text, "Done.");
  return [answer.steps[0].toolResults[0]?.output, answer.steps[0].content, model];
}

await run({
  async a_model_remembers() {
    const [output] = await called("addMemory", { memory: "I am allergic to peanuts." });
    assert.equal(output.status, "done");
    assert.match(output.memories[0], /peanuts/);
  },

  async a_model_searches() {
    const [[best], , model] = await called("searchMemories", { query: "What may she not eat?" });
    assert.match(best.memory, /peanuts/);
    assert.ok(best.similarity > 0 && best.id && best.since);
    const sent = model.doGenerateCalls[0].tools;
    assert.deepEqual(sent.map((tool) => tool.name), ["searchMemories", "addMemory"]);
    assert.deepEqual(sent[0].inputSchema.required, ["query"]);
  },

  async a_model_sees_nobody_else() {
    await memory.ingest("I am allergic to cats.", { userId: "zoe" });
    const [found] = await called("searchMemories", { query: "allergic to cats" });
    assert.ok(!found.some((one) => /cats/.test(one.memory)));
  },

  async what_fails_is_told_to_the_model() {
    const wrong = memoryTools(new Memory(URL_OF, "mp_no", "demo"), { jsonSchema, userId: "y" });
    await assert.rejects(() => wrong.searchMemories.execute({ query: "x" }), /unknown/);
  },
});
