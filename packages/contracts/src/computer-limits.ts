// Beside the schemas, for the agent, which has no use for those.

/** A call for the mouse, the keyboard or several of it is over within a minute: clients wait no longer. */
export const CALL_TIMEOUT_MS = 55_000
