/** What is wrong with one field of a request; `field` is its path. */
export interface FieldFault {
  field: string;
  message: string;
  code: string;
}

/** The server's refusal. `status` is 0 where it could not be reached. */
export class MemoryFault extends Error {
  override readonly name = "MemoryFault";

  constructor(
    detail: string,
    readonly status: number,
    readonly code = "",
    readonly errors: readonly FieldFault[] = [],
    readonly requestId = "",
    cause?: unknown,
  ) {
    super(detail, { cause });
  }

  /** The paths of what is wrong. */
  get fields(): string[] {
    return this.errors.map((error) => error.field);
  }
}

/** Of a problem (RFC 9457), or of whatever a proxy in between says instead. */
export function faultOf(status: number, body: unknown): MemoryFault {
  const problem = (typeof body === "object" && body !== null ? body : {}) as {
    detail?: string;
    code?: string;
    errors?: FieldFault[];
    requestId?: string;
  };
  const detail = problem.detail || `The server answered ${status}.`;
  const told = (problem.errors ?? [])
    .filter((error) => !detail.includes(error.message))
    .map((error) => `${error.field}: ${error.message}`);
  return new MemoryFault(
    [detail, ...told].join(" "),
    status,
    problem.code ?? "",
    problem.errors ?? [],
    problem.requestId ?? "",
  );
}
