// What a user of mem0's official npm client does.
import { createRequire } from "node:module";

import { assert, fails, KEY, run, URL_OF } from "./steps.mjs";

const { MemoryClient } = createRequire(process.env.MODULES + "/")("mem0ai");
const client = new MemoryClient({ apiKey: KEY, host: URL_OF });
const NORA = { user_id: "nora" };
const say = (content) => [{ role: "user", content }];
let home;

await run({
  async a_client_is_let_in_and_a_wrong_key_is_not() {
    await client.ping();
    const wrong = new MemoryClient({ apiKey: "mp_no_key", host: URL_OF });
    assert.match(String(await fails(() => wrong.ping())), /unknown/);
  },

  async messages_are_learned_from() {
    const added = await client.add(say("I live in Lisbon and I am allergic to peanuts."), {
      userId: "nora",
      metadata: { source: "chat" },
    });
    const rows = added.results ?? added;
    assert.ok(rows.length);
    assert.ok(rows.every((one) => one.event === "ADD" && one.id));
    [home] = rows.filter((one) => one.memory.includes("Lisbon"));
  },

  async infer_false_keeps_every_word() {
    const words = "The code of the gate is on the blue card.";
    const added = await client.add(say(words), { userId: "nora", infer: false });
    assert.equal((added.results ?? added)[0].memory, words);
  },

  async a_search_finds_it_for_its_user_alone() {
    const { results } = await client.search("Where does she live?", { filters: NORA });
    assert.ok(results.some((one) => one.memory.includes("Lisbon")));
    assert.ok(results.every((one) => one.score >= 0 && one.score <= 1));
    const other = await client.search("Where does she live?", { filters: { user_id: "olaf" } });
    assert.deepEqual(other.results, []);
  },

  async a_threshold_means_similarity() {
    const options = { filters: NORA, threshold: 0.5 };
    assert.ok((await client.search("Where does she live? Lisbon", options)).results.length);
    const strict = { filters: NORA, threshold: 1 };
    assert.deepEqual((await client.search("tax law", strict)).results, []);
  },

  async all_of_a_user_are_listed_in_pages() {
    const listed = await client.getAll({ filters: NORA, page: 1, pageSize: 1 });
    assert.equal(listed.results.length, 1);
    assert.ok(listed.count >= 3);
    assert.ok(listed.next);
  },

  async one_is_read() {
    const one = await client.get(home.id);
    assert.deepEqual([one.id, one.userId, one.metadata.source], [home.id, "nora", "chat"]);
  },

  async an_update_keeps_the_id_and_its_history() {
    await client.update(home.id, { text: "Nora lives in Faro" });
    assert.equal((await client.get(home.id)).memory, "Nora lives in Faro");
    const events = (await client.history(home.id)).map((one) => one.event);
    assert.deepEqual(events, ["ADD", "UPDATE"]);
  },

  async batches_are_updated_and_deleted() {
    const ids = [];
    for (const text of ["The first crate is green.", "The second crate is grey."]) {
      const added = await client.add(say(text), { userId: "nils", infer: false });
      ids.push((added.results ?? added)[0].id);
    }
    await client.batchUpdate(ids.map((memoryId) => ({ memoryId, text: `Crate ${memoryId}` })));
    assert.equal((await client.get(ids[0])).memory, `Crate ${ids[0]}`);
    await client.batchDelete(ids);
    assert.deepEqual((await client.getAll({ filters: { user_id: "nils" } })).results, []);
  },

  async one_is_deleted_and_not_found() {
    await client.delete(home.id);
    const fault = await fails(() => client.get(home.id));
    assert.match(`${fault.name}: ${fault.message}`, /not found/i);
  },

  async users_are_listed_and_erased() {
    const { results } = await client.users();
    assert.ok(results.some((one) => one.type === "user" && one.name === "nora"));
    await client.deleteUsers({ userId: "nora" });
    assert.ok(!(await client.users()).results.some((one) => one.name === "nora"));
  },

  async what_is_not_built_says_so() {
    const fault = await fails(() => client.feedback({ memoryId: home.id, feedback: "POSITIVE" }));
    assert.match(String(fault), /does not have this route/);
  },
});
