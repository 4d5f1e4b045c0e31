import type { ChromePolicy } from '@berth/contracts/chrome-policy'
import type { AgentState, BrowserStart, Shape } from '@berth/contracts/link'
import type { AgentClient } from './client.ts'
import { askForState } from './state.ts'

const START_TIMEOUT_MS = 30_000

interface Options {
  readonly signal?: AbortSignal | undefined
}

/** Resolves when Chromium is ready. */
export async function startChromium(
  agent: AgentClient,
  start: BrowserStart,
  { signal }: Options = {},
): Promise<AgentState> {
  const call = { method: 'POST', path: '/browser', json: start, timeoutMs: START_TIMEOUT_MS, signal } as const
  return askForState(agent, call)
}

/** Sets the size, kiosk mode and start page of a running Chromium. */
export async function setShape(agent: AgentClient, wanted: Shape, { signal }: Options = {}): Promise<void> {
  await agent.call({ purpose: 'management', method: 'POST', path: '/shape', json: wanted, signal })
}

/** Must be called before Chromium starts. */
export async function setPolicy(
  agent: AgentClient,
  policy: ChromePolicy,
  { signal }: Options = {},
): Promise<void> {
  const call = { method: 'PUT', path: '/policy', json: policy, timeoutMs: START_TIMEOUT_MS, signal } as const
  await agent.call({ purpose: 'management', ...call })
}
