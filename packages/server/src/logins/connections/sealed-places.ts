/** The place of every sealed value of connections and flows: a value opens only in its place. */
export const places = {
  handoffCode: (flowId: string) => `auth_flows/handoff_code/${flowId}`,
  submission: (flowId: string) => `auth_flows/submission/${flowId}`,
  outcome: (flowId: string) => `auth_flows/outcome/${flowId}`,
  memory: (connectionId: string) => `auth_connections/memory/${connectionId}`,
} as const
