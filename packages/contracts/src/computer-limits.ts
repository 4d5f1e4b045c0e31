// Separate from the schemas, so that the agent's bundle stays small.

/** Mouse and keyboard calls, and batches of them, must finish within a minute because clients wait no longer. */
export const CALL_TIMEOUT_MS = 55_000
