import { Caller } from "./calls.js";
import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];
type QueryOf<Operation extends keyof operations> = NonNullable<
  operations[Operation]["parameters"]["query"]
>;

export type MemoryRecord = Schemas["Memory"];
export type Message = NonNullable<Schemas["IngestRequest"]["messages"]>[number];
export type IngestOptions = Omit<Schemas["IngestRequest"], "content" | "messages">;
/** `status` is done, or received where the worker is still at it; then the rest is not known. */
export type IngestResult = Schemas["Received"] & Partial<Omit<Schemas["IngestAnswer"], "status">>;
export type SearchOptions = Omit<Schemas["SearchRequest"], "query">;
export type SearchAnswer = Schemas["SearchAnswer"];
export type ContextOptions = Omit<Schemas["ContextRequest"], "query">;
export type ContextAnswer = Schemas["ContextAnswer"];
export type Profile = Schemas["Profile"];
export type ProfileOptions = Omit<QueryOf<"readProfile">, "userId">;
export type ListOptions = Omit<QueryOf<"listMemories">, "cursor">;

/** All versions of a memory, oldest first, and the facts under the one that was asked for. */
export interface Explanation {
  chain: Schemas["Chain"]["results"];
  facts: Schemas["Fact"][];
}

export interface MemoryOptions {
  /** Milliseconds, of each try. */
  timeout?: number;
  /** How often more is tried, where the server is busy or the connection is lost. */
  retries?: number;
}

const PAGE = 100;

/**
 * A workspace of a server. All methods throw MemoryFault where the server refuses or cannot be
 * reached. Options are those of the API.
 */
export class Memory {
  private readonly caller: Caller;

  constructor(url: string, key: string, workspace: string, options: MemoryOptions = {}) {
    const { timeout = 90_000, retries = 4 } = options;
    this.caller = new Caller(url, key, workspace, timeout, retries);
  }

  /** Keep a text, or messages, and learn from them. */
  ingest(said: string | Message[], options: IngestOptions = {}): Promise<IngestResult> {
    const what = typeof said === "string" ? { content: said } : { messages: said };
    return this.post("/memories/ingest", { ...what, ...options });
  }

  /** What answers a question, best first. */
  search(query: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    return this.post("/memories/search", { query, ...options });
  }

  /** What answers a question, as one text for a prompt. */
  context(query: string, options: ContextOptions = {}): Promise<ContextAnswer> {
    return this.post("/memories/context", { query, ...options });
  }

  /** All that is known of a user. */
  profile(userId: string, options: ProfileOptions = {}): Promise<Profile> {
    const query = { userId, ...options };
    return this.caller.ask({ method: "GET", path: "/memories/profile", query });
  }

  /** Memories, the newest first, over all pages; at most `limit` of them. */
  async *memories(options: ListOptions = {}): AsyncGenerator<MemoryRecord, void, undefined> {
    let left = options.limit ?? Infinity;
    let query: Record<string, unknown> = { ...options, limit: Math.min(left, PAGE) };
    while (left > 0) {
      const page = await this.caller.ask<{ results: MemoryRecord[]; next: string | null }>({
        method: "GET",
        path: "/memories",
        query,
      });
      yield* page.results.slice(0, left);
      left -= page.results.length;
      if (!page.next) return;
      query = Object.fromEntries(new URL(page.next, "http://server").searchParams);
    }
  }

  /** The new version; the old one stays in its chain. */
  correct(id: string, content: string): Promise<MemoryRecord> {
    return this.caller.ask({ method: "PATCH", path: pathOf(id), body: { content } });
  }

  /** It is believed no more. What is `wrong` is not learned again, what is `private` not before a
   * person says so; the words of both leave the messages that it stands on, too, unless `messages`
   * is `keep`. `mask` takes them out for any other reason. */
  async forget(id: string, reason = "", messages: "" | "mask" | "keep" = ""): Promise<void> {
    const query = { ...(reason && { reason }), ...(messages && { messages }) };
    await this.caller.ask({ method: "DELETE", path: pathOf(id), query });
  }

  /** All versions with the decisions between them, and the quotes that it stands on. */
  async explain(id: string): Promise<Explanation> {
    const [chain, facts] = await Promise.all([
      this.caller.ask<{ results: Explanation["chain"] }>({
        method: "GET",
        path: `${pathOf(id)}/chain`,
      }),
      this.caller.ask<{ results: Explanation["facts"] }>({
        method: "GET",
        path: `${pathOf(id)}/facts`,
      }),
    ]);
    return { chain: chain.results, facts: facts.results };
  }

  private post<Answer>(path: string, body: unknown): Promise<Answer> {
    return this.caller.ask({ method: "POST", path, body });
  }
}

function pathOf(id: string): string {
  return `/memories/${encodeURIComponent(id)}`;
}
