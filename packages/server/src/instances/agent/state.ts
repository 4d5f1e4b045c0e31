// Whether the agent and its Chromium are up, and the lease that keeps the instance alive.
import { AgentState } from '@berth/contracts/link'
import { answerReader } from './answers.ts'
import type { AgentClient, Call } from './client.ts'
import { AgentError } from './errors.ts'

const START_TIMEOUT_MS = 30_000
/** Longer than the agent waits before it answers that nothing changed. */
const NEXT_STATE_TIMEOUT_MS = 35_000
const MAX_LEASE_CALL_MS = 10_000

const readAnswer = answerReader(AgentState)

/** Resolves when the agent answers, which means that the instance is up. */
export async function readState(
  agent: AgentClient,
  { signal }: { signal?: AbortSignal } = {},
): Promise<AgentState> {
  return askForState(agent, { method: 'GET', path: '/state', timeoutMs: START_TIMEOUT_MS, signal })
}

/** Resolves when the state differs from the given one, or after half a minute. */
export async function nextState(
  agent: AgentClient,
  { number }: AgentState,
  { signal }: { signal: AbortSignal },
): Promise<AgentState> {
  const path = `/state?after=${number}`
  return askForState(agent, { method: 'GET', path, timeoutMs: NEXT_STATE_TIMEOUT_MS, signal })
}

/** Waits until Chromium accepts clients, while it starts or restarts. */
export async function waitForChromium(
  agent: AgentClient,
  { signal }: { signal: AbortSignal },
): Promise<AgentState & { devtools_path: string }> {
  const call = { method: 'POST', path: '/client', timeoutMs: START_TIMEOUT_MS, signal } as const
  const state = await askForState(agent, call)
  const { browser, devtools_path, failure } = state
  if (browser === 'ready' && devtools_path !== null) return { ...state, devtools_path }
  throw new AgentError(`Chromium does not accept clients: ${failure ?? browser}`)
}

/** The answer is the state, which saves a separate request. */
export async function renewLease(
  agent: AgentClient,
  seconds: number,
  { signal }: { signal: AbortSignal },
): Promise<AgentState> {
  const timeoutMs = Math.min(MAX_LEASE_CALL_MS, seconds * 1000)
  const path = '/lease'
  const aside = await inTime(timeoutMs, signal, (over) => agent.renewLeaseAside(seconds, over))
  if (aside !== undefined) return agent.lastState.hear(readAnswer(aside, path))
  return askForState(agent, { method: 'PUT', path, json: { seconds }, timeoutMs, signal })
}

async function inTime<T>(
  ms: number,
  signal: AbortSignal,
  act: (over: AbortSignal) => Promise<T> | undefined,
): Promise<T | undefined> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms / 1000} s`)), ms)
  try {
    return await act(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}

export async function askForState(agent: AgentClient, call: Omit<Call, 'purpose'>): Promise<AgentState> {
  const answer = await agent.call({ ...call, purpose: 'management' })
  return agent.lastState.hear(readAnswer(answer.toString(), call.path))
}
