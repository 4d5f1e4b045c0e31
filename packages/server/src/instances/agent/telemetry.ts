import type { IncomingMessage } from 'node:http'
import type { TelemetryOrder } from '@berth/contracts/link'
import type { AgentClient } from './client.ts'

const SET_TIMEOUT_MS = 30_000

/** Resolves when the agent captures these events, as far as it can. */
export async function setTelemetry(
  agent: AgentClient,
  order: TelemetryOrder,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const call = { method: 'PUT', path: '/telemetry', json: order, timeoutMs: SET_TIMEOUT_MS, signal } as const
  await agent.call({ purpose: 'management', ...call })
}

/** Streams the events after that number, one per line, as they happen. */
export async function followTelemetry(
  agent: AgentClient,
  after: number,
  { signal }: { signal: AbortSignal },
): Promise<IncomingMessage> {
  return agent.open({ purpose: 'work', method: 'GET', path: `/telemetry?after=${after}`, signal })
}
