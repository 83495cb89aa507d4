import { faultOf, MemoryFault } from "./fault.js";

const BUSY = new Set([429, 502, 503]);
const PAUSE = 500; // milliseconds
const LONGEST_PAUSE = 30_000;

export interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  body?: unknown;
  query?: Record<string, unknown>;
}

/** How a workspace of a server is asked; `timeout` in milliseconds, of each try. */
export class Caller {
  private readonly address: string;

  constructor(
    url: string,
    private readonly key: string,
    workspace: string,
    private readonly timeout: number,
    private readonly retries: number,
  ) {
    const server = url.replace(/\/+$/, "");
    this.address = `${server}/api/v1/workspaces/${encodeURIComponent(workspace)}`;
  }

  /** The body of the answer. A POST is the same one, however often it is sent. */
  async ask<Answer>(call: Call): Promise<Answer> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.key}` };
    if (call.method === "POST") headers["Idempotency-Key"] = crypto.randomUUID();
    if (call.body !== undefined) headers["Content-Type"] = "application/json";
    for (let tried = 0; ; tried += 1) {
      const reply = await this.once(call, headers);
      if (!(reply.fault instanceof MemoryFault)) return reply.body as Answer;
      const { status, code } = reply.fault;
      const lost = status === 0 && (call.method === "GET" || call.method === "POST");
      const again = lost || BUSY.has(status) || code === "in_progress";
      if (!again || tried >= this.retries) throw reply.fault;
      const pause = Math.min(LONGEST_PAUSE, reply.pause ?? PAUSE * 2 ** tried);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  private async once(
    call: Call,
    headers: Record<string, string>,
  ): Promise<{ body?: unknown; fault?: MemoryFault; pause?: number }> {
    try {
      const answer = await fetch(this.address + call.path + queryOf(call.query ?? {}), {
        method: call.method,
        headers,
        body: call.body === undefined ? undefined : JSON.stringify(call.body),
        signal: AbortSignal.timeout(this.timeout),
      });
      const text = await answer.text();
      const isJson = (answer.headers.get("content-type") ?? "").includes("json");
      const body: unknown = isJson && text ? JSON.parse(text) : undefined;
      if (answer.ok) return { body };
      const after = answer.headers.get("retry-after") ?? "";
      const pause = /^\d+$/.test(after) ? Number(after) * 1000 : undefined;
      return { fault: faultOf(answer.status, body), pause };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const detail = `The server cannot be reached: ${why}`;
      return { fault: new MemoryFault(detail, 0, "", [], "", error) };
    }
  }
}

function queryOf(values: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}
