// Our own client for TypeScript, as it is built: against a real server, and one that fails on purpose.
import { createServer } from "node:http";

import { assert, fails, KEY, run, URL_OF } from "./steps.mjs";

const { Memory, MemoryFault } = await import(process.env.CLIENT);
const WORKSPACE = process.env.WORKSPACE;
const memory = new Memory(URL_OF, KEY, WORKSPACE);
const NOTHING = { results: [], count: 0, confidence: 0 };
let made;

/** What `act` does with a client of a server that gives these answers, one after the other. */
async function against(answers, act, options = {}) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const [status, body, headers = {}] = answers[Math.min(asked.length, answers.length) - 1];
    if (status === 0) return void request.socket.destroy();
    const type = typeof body === "string" ? "text/html" : "application/json";
    response.writeHead(status, { "content-type": type, ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  try {
    return [await act(new Memory(`http://127.0.0.1:${port}/`, "k", "demo", options)), asked];
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const SOON = { "retry-after": "0" };

await run({
  async a_text_is_learned_from() {
    const said = await memory.ingest("I have a ferret called Pip.", {
      userId: "tess",
      threadId: "t1",
    });
    assert.equal(said.status, "done");
    [made] = said.memories;
    assert.deepEqual([made.userId, made.threadId, made.version], ["tess", "t1", 1]);
  },

  async messages_are_kept_as_said() {
    const said = [{ role: "user", content: "I play the cello.", id: "m1" }];
    const first = await memory.ingest(said, { userId: "tess" });
    const again = await memory.ingest(said, { userId: "tess" });
    assert.equal(first.memoriesCreated, 1);
    assert.equal(again.memoriesCreated, 0);
  },

  async a_search_finds_it_with_its_words() {
    const found = await memory.search("ferret", { userId: "tess", layers: ["memories"], include: ["citations"] });
    assert.equal(found.results[0].memory.id, made.id);
    assert.match(found.results[0].citations[0].quote, /Pip/);
    assert.ok(found.confidence >= 0);
  },

  async a_context_is_a_text() {
    const packed = await memory.context("ferret called Pip", { userId: "tess", floor: 0 });
    assert.match(packed.text, /Pip/);
  },

  async a_profile_names_it() {
    const known = await memory.profile("tess", { limit: 10 });
    assert.ok(known.profile.some((row) => row.id === made.id));
  },

  async memories_come_over_all_pages() {
    for (let at = 0; at < 3; at += 1) {
      await memory.ingest(`The box ${at} is full.`, { userId: "stack", extract: "none" });
    }
    const every = [];
    for await (const row of memory.memories({ userId: "stack" })) every.push(row.content);
    assert.deepEqual(every, ["The box 2 is full.", "The box 1 is full.", "The box 0 is full."]);
    const some = [];
    for await (const row of memory.memories({ userId: "stack", limit: 2 })) some.push(row.id);
    assert.equal(some.length, 2);
  },

  async pages_are_followed_to_their_end() {
    const next = "http://elsewhere/api/v1/workspaces/demo/memories?cursor=abc&limit=100";
    const pages = [
      [200, { results: [{ id: "1" }, { id: "2" }], next }],
      [200, { results: [{ id: "3" }], next: null }],
    ];
    const [ids, asked] = await against(pages, async (client) => {
      const found = [];
      for await (const row of client.memories()) found.push(row.id);
      return found;
    });
    assert.deepEqual(ids, ["1", "2", "3"]);
    assert.match(asked[1].url, /^\/api\/v1\/workspaces\/demo\/memories\?cursor=abc&limit=100$/);
  },

  async a_correction_is_a_new_version() {
    const corrected = await memory.correct(made.id, "Tess has a ferret called Pop");
    assert.equal(corrected.version, 2);
    const told = await memory.explain(corrected.id);
    assert.deepEqual(told.chain.map((link) => link.memory.version), [1, 2]);
    assert.equal(told.chain[1].supersession.rule, "edit");
    assert.ok(told.facts.length);
    made = corrected;
  },

  async what_is_forgotten_is_gone() {
    await memory.forget(made.id, "private");
    const left = [];
    for await (const row of memory.memories({ userId: "tess" })) left.push(row.content);
    assert.ok(!left.some((text) => text.includes("Pop")));
  },

  async a_refusal_names_status_and_fields() {
    const fault = await fails(() => memory.search("x", { rankking: "hybrid" }));
    assert.ok(fault instanceof MemoryFault);
    assert.deepEqual([fault.status, fault.fields, fault.code], [400, ["rankking"], "unknown_field"]);
    assert.ok(fault.requestId);
    assert.equal((await fails(() => memory.forget("01a205c1-0000-7000-8000-000000000000"))).status, 404);
  },

  async a_wrong_key_is_told() {
    const fault = await fails(() => new Memory(URL_OF, "mp_no", WORKSPACE).profile("tess"));
    assert.equal(fault.status, 401);
  },

  async what_is_busy_is_asked_again_as_the_same() {
    const busy = [
      [429, {}, SOON], [502, "<html>", SOON], [503, {}, SOON],
      [409, { code: "in_progress" }, SOON], [200, NOTHING],
    ];
    const [answer, asked] = await against(busy, (client) => client.search("x"));
    assert.equal(answer.count, 0);
    assert.equal(asked.length, 5);
    assert.equal(new Set(asked.map((one) => one.headers["idempotency-key"])).size, 1);
    assert.equal(asked[0].headers.authorization, "Bearer k");
  },

  async what_stays_busy_is_given_up() {
    const act = (client) => fails(() => client.search("x"));
    const [fault, asked] = await against([[503, { detail: "Busy." }, SOON]], act, { retries: 2 });
    assert.deepEqual([fault.message, fault.status, asked.length], ["Busy.", 503, 3]);
  },

  async a_plain_refusal_is_not_asked_again() {
    const act = (client) => fails(() => client.search("x"));
    const [fault, asked] = await against([[404, "gone"]], act);
    assert.deepEqual([fault.message, asked.length], ["The server answered 404.", 1]);
  },

  async a_lost_connection_is_tried_again_and_a_change_is_not() {
    const answers = [[0], [200, NOTHING]];
    const [answer] = await against(answers, (client) => client.search("x"));
    assert.equal(answer.count, 0);
    const act = (client) => fails(() => client.correct("1", "x"));
    const [fault, asked] = await against([[0]], act);
    assert.deepEqual([fault.status, asked.length], [0, 1]);
    assert.match(fault.message, /cannot be reached/);
  },

  async each_try_has_its_time() {
    const slow = createServer(() => {});
    await new Promise((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${slow.address().port}`;
    const options = { timeout: 200, retries: 0 };
    const fault = await fails(() => new Memory(address, "k", "demo", options).search("x"));
    assert.equal(fault.status, 0);
    slow.closeAllConnections();
    slow.close();
  },
});
