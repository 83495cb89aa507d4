import type { IngestResult, Memory } from "./client.js";

/** `jsonSchema` of the AI SDK, of the version that the caller has. */
type MakeSchema = (schema: any) => any;

export interface ToolOptions {
  /** `import { jsonSchema } from "ai"`. */
  jsonSchema: MakeSchema;
  /** Whose memory it is; a model never names it. */
  userId: string;
  /** The conversation in which something is remembered. */
  threadId?: string;
  /** How many memories a search answers. */
  limit?: number;
}

export interface FoundMemory {
  id: string;
  memory: string;
  similarity: number;
  since: string;
}

/**
 * Tools of the Vercel AI SDK: `generateText({ model, tools: memoryTools(memory, { jsonSchema,
 * userId: "ada" }), ... })`.
 */
export function memoryTools(memory: Memory, options: ToolOptions) {
  const { jsonSchema, userId, threadId, limit = 10 } = options;
  const takes = (name: string, description: string) =>
    jsonSchema({
      type: "object",
      properties: { [name]: { type: "string", minLength: 1, description } },
      required: [name],
      additionalProperties: false,
    });
  return {
    searchMemories: {
      description:
        "Search what is known of the user: facts, preferences, plans, decisions. Use it before" +
        " answering anything that depends on who the user is or what was said before.",
      inputSchema: takes("query", "What is to be found, as a question or in words."),
      async execute({ query }: { query: string }): Promise<FoundMemory[]> {
        const found = await memory.search(query, { userId, limit, layers: ["memories"] });
        return found.results.flatMap((hit) =>
          hit.memory
            ? [
                {
                  id: hit.memory.id,
                  memory: hit.memory.content,
                  similarity: hit.similarity,
                  since: hit.memory.validFrom ?? hit.memory.createdAt,
                },
              ]
            : [],
        );
      },
    },
    addMemory: {
      description:
        "Remember something that the user said of themselves or asked to be remembered, in one" +
        " plain sentence in the first person, as the user would say it.",
      inputSchema: takes("memory", 'What is to be remembered: "I am allergic to peanuts."'),
      async execute({ memory: said }: { memory: string }): Promise<Remembered> {
        const message = { role: "user" as const, content: said };
        return remembered(await memory.ingest([message], { userId, threadId }));
      },
    },
  };
}

export interface Remembered {
  status: string;
  memories: string[];
  reason?: string;
}

function remembered(result: IngestResult): Remembered {
  const memories = (result.memories ?? []).map((one) => one.content);
  return { status: result.status, memories, reason: result.reason ?? undefined };
}
