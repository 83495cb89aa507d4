export { Memory } from "./client.js";
export type {
  ContextAnswer,
  ContextOptions,
  Explanation,
  IngestOptions,
  IngestResult,
  ListOptions,
  MemoryOptions,
  MemoryRecord,
  Message,
  Profile,
  ProfileOptions,
  SearchAnswer,
  SearchOptions,
} from "./client.js";
export { MemoryFault } from "./fault.js";
export type { FieldFault } from "./fault.js";
