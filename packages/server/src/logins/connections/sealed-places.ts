/** What of connections and flows is sealed where: it opens nowhere else. */
export const places = {
  handoffCode: (flowId: string) => `auth_flows/handoff_code/${flowId}`,
  submission: (flowId: string) => `auth_flows/submission/${flowId}`,
  outcome: (flowId: string) => `auth_flows/outcome/${flowId}`,
  memory: (connectionId: string) => `auth_connections/memory/${connectionId}`,
} as const
