// What a user of supermemory's official npm client does, and of its tools for the AI SDK.
import { createRequire } from "node:module";

import { assert, fails, KEY, run, URL_OF } from "./steps.mjs";

const require = createRequire(process.env.MODULES + "/");
const Supermemory = require("supermemory").default;
const { supermemoryTools } = await import(require.resolve("@supermemory/tools/ai-sdk"));
const { createClaudeMemoryTool } = await import(require.resolve("@supermemory/tools/claude-memory"));
const client = new Supermemory({ apiKey: KEY, baseURL: URL_OF });
const options = { baseUrl: URL_OF, containerTags: ["vera"] };
const tools = supermemoryTools(KEY, options);
const files = createClaudeMemoryTool(KEY, { baseUrl: URL_OF, containerTags: ["walt"] });
const use = (name, input) => tools[name].execute(input, { toolCallId: "1", messages: [] });
let added;

await run({
  async a_text_is_added_and_read() {
    added = await client.add({ content: "I live in Bergen.", containerTag: "uwe", customId: "u1" });
    for (;;) {
      const found = await client.documents.get(added.id);
      if (found.status === "done") return assert.equal(found.content, "I live in Bergen.");
      assert.notEqual(found.status, "failed");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  },

  async it_is_searched_and_told_in_the_profile() {
    const found = await client.search.memories({ q: "Bergen", containerTag: "uwe" });
    assert.match(found.results[0].memory, /Bergen/);
    const documents = await client.search.documents({ q: "Bergen", containerTags: ["uwe"] });
    assert.equal(documents.results[0].documentId, added.id);
    const { profile } = await client.profile({ containerTag: "uwe" });
    assert.ok(profile.static.some((line) => line.includes("Bergen")));
  },

  async it_is_listed_updated_and_deleted() {
    const listed = await client.documents.list({ containerTags: ["uwe"] });
    assert.equal(listed.memories[0].customId, "u1");
    await client.documents.update("u1", { metadata: { seen: true } });
    assert.deepEqual((await client.documents.get("u1")).metadata, { seen: true });
    await client.documents.delete("u1");
    assert.equal((await fails(() => client.documents.get("u1"))).status, 404);
  },

  async a_wrong_key_is_refused() {
    const wrong = new Supermemory({ apiKey: "mp_no", baseURL: URL_OF, maxRetries: 0 });
    assert.equal((await fails(() => wrong.documents.list())).status, 401);
  },

  async the_tool_adds() {
    const told = await use("addMemory", { memory: "I prefer tea to coffee." });
    assert.ok(told.success, told.error);
  },

  async the_tool_finds_by_its_own_threshold() {
    const told = await use("searchMemories", { informationToGet: "prefers tea or coffee", limit: 5 });
    assert.ok(told.success, told.error);
    assert.ok(told.count >= 1);
    assert.ok(told.results.some((one) => one.memory?.includes("tea")));
  },

  async the_tool_finds_nothing_of_what_was_not_said() {
    const told = await use("searchMemories", { informationToGet: "the price of cement", limit: 5 });
    assert.deepEqual([told.success, told.count], [true, 0]);
  },

  async the_tool_tells_the_profile() {
    const told = await use("getProfile", { query: "tea" });
    assert.ok(told.success, told.error);
    assert.ok(told.profile.static.some((line) => line.includes("tea")));
    assert.ok(told.searchResults.results.length);
  },

  async the_tool_forgets() {
    const { results } = await use("searchMemories", { informationToGet: "tea or coffee" });
    const { id } = results.find((one) => one.memory);
    const told = await use("memoryForget", { memoryId: id, reason: "outdated" });
    assert.ok(told.success, told.error);
    const { profile } = await use("getProfile", {});
    assert.ok(!profile.static.some((line) => line.includes("tea")));
  },

  async the_tools_keep_list_and_delete_documents() {
    const kept = await use("documentAdd", { content: "The bridge is painted in June.", title: "Plan" });
    assert.ok(kept.success, kept.error);
    for (;;) {
      const { documents } = await use("documentList", { limit: 10 });
      const [plan] = documents.filter((one) => one.title === "Plan");
      assert.ok(plan);
      if (plan.status === "done") break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const gone = await use("documentDelete", { documentId: kept.document.id });
    assert.ok(gone.success, gone.error);
  },

  async claudes_files_are_kept_changed_and_deleted() {
    const path = "/memories/notes.md";
    const command = (given) => files.handleCommand({ path, ...given });
    const made = await command({ command: "create", file_text: "First line\nSecond line" });
    assert.ok(made.success, made.error);
    let told = await command({ command: "view" });
    assert.match(told.content ?? told.error, /Second line/);
    told = await command({ command: "str_replace", old_str: "Second", new_str: "Other" });
    assert.ok(told.success, told.error);
    do told = await command({ command: "view" });
    while (!told.content?.includes("Other line"));
    told = await files.handleCommand({ command: "view", path: "/memories/" });
    assert.match(told.content ?? told.error, /notes\.md/);
    for (;;) {
      told = await command({ command: "delete" });
      if (told.success) return;
      assert.match(told.error, /processing/);
    }
  },
});
