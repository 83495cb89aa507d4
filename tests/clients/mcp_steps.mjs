// What an agent does through an npm client of MCP: the protocol's own, or the AI SDK's.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { assert, fails, KEY, run, URL_OF } from "./steps.mjs";

const require = createRequire(process.env.MODULES + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const which = process.argv[2];
const TOLD = { text: "I moved to Bergen in May.", thread_id: which };

/** A client as both are used: what it lists, what a call answers, what else it reads. */
const CLIENTS = {
  async official(key, path) {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await load(
      "@modelcontextprotocol/sdk/client/streamableHttp.js",
    );
    const client = new Client({ name: "steps", version: "1" });
    const headers = { Authorization: `Bearer ${key}` };
    const address = new URL(`${URL_OF}/mcp${path}`);
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
    return {
      tools: async () => (await client.listTools()).tools.map((one) => one.name),
      call: (name, given) => client.callTool({ name, arguments: given }),
      resource: async (uri) => (await client.readResource({ uri })).contents[0].text,
      prompt: async (name, given) =>
        (await client.getPrompt({ name, arguments: given })).messages[0].content.text,
    };
  },

  async aiSdk(key, path) {
    const { createMCPClient } = await load("@ai-sdk/mcp");
    const headers = { Authorization: `Bearer ${key}` };
    const client = await createMCPClient({
      transport: { type: "http", url: `${URL_OF}/mcp${path}`, headers },
    });
    const tools = await client.tools();
    return {
      tools: async () => Object.keys(tools),
      call: (name, given) => tools[name].execute(given, { toolCallId: "1", messages: [] }),
      resource: async (uri) => (await client.readResource({ uri })).contents[0].text,
      prompt: async (name, given) =>
        (await client.experimental_getPrompt({ name, arguments: given })).messages[0].content.text,
    };
  },
};
const connect = CLIENTS[which];
let client, learned;

await run({
  async it_connects_and_lists_the_tools() {
    client = await connect(KEY, `/${which}-uwe`);
    const names = await client.tools();
    assert.equal(names.length, 8);
    assert.ok(names.includes("search_memories") && names.includes("searchDatabase"));
  },

  async what_is_added_is_learned() {
    const { structuredContent } = await client.call("add_memory", TOLD);
    learned = structuredContent.learned[0].memory_id;
    assert.ok(learned);
  },

  async it_is_found() {
    const { structuredContent } = await client.call("search_memories", { query: "Bergen" });
    assert.match(JSON.stringify(structuredContent), /Bergen/);
  },

  async it_is_in_the_context_and_in_the_profile() {
    for (const [name, given] of [["get_context", { query: "moved to Bergen" }], ["get_profile", {}]]) {
      assert.match((await client.call(name, given)).structuredContent.text, /Bergen/);
    }
  },

  async it_is_explained() {
    const told = await client.call("explain_memory", { memory_id: learned });
    assert.match(JSON.stringify(told.structuredContent), /I moved to Bergen in May/);
  },

  async a_wrong_wish_is_an_error_in_words() {
    const told = await client.call("search_memories", { query: "x", limit: 99 });
    assert.equal(told.isError, true);
    assert.match(told.content[0].text, /limit/);
  },

  async it_is_corrected() {
    const given = { memory_id: learned, content: "User moved to Bodø in May" };
    assert.ok(!(await client.call("correct_memory", given)).isError);
  },

  async the_profile_is_a_resource() {
    assert.match(await client.resource(`memory://profile/${which}-uwe`), /Bodø/);
  },

  async the_prompt_recalls() {
    assert.match(await client.prompt("recall", { topic: "Bodø" }), /Bodø/);
  },

  async a_wrong_key_is_refused() {
    assert.match(String(await fails(() => connect("mp_no", ""))), /401|[Uu]nauthor/);
  },
});
