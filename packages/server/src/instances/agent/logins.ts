// What a login sees of the page, and does on it.
import {
  ActResult,
  PageSnapshot,
  type ActOrder,
  type LookOrder,
  type VisitOrder,
} from '@berth/contracts/page-snapshot'
import { answerReader } from './answers.ts'
import type { AgentClient } from './client.ts'

/** Beyond what the agent is asked to wait for: Chromium may have to start again, and a page may be slow to be read. */
const LOOK_MARGIN_MS = 40_000
const ACT_TIMEOUT_MS = 60_000
const HIDE_TIMEOUT_MS = 10_000
/** What the agent keeps to, with what JSON makes of it at worst. */
const MAX_SIGHT_BYTES = 12 * 1024 * 1024
const MAX_ANSWER_BYTES = 64 * 1024

const readSnapshot = answerReader(PageSnapshot)
const readResult = answerReader(ActResult)

interface Options {
  readonly signal: AbortSignal
}

export async function lookAtPage(
  agent: AgentClient,
  order: LookOrder,
  options: Options,
): Promise<PageSnapshot> {
  return see(agent, '/login/look', order, options)
}

export async function visitPage(
  agent: AgentClient,
  order: VisitOrder,
  options: Options,
): Promise<PageSnapshot> {
  return see(agent, '/login/visit', order, options)
}

async function see(
  agent: AgentClient,
  path: '/login/look' | '/login/visit',
  order: LookOrder | VisitOrder,
  { signal }: Options,
): Promise<PageSnapshot> {
  const answer = await agent.call({
    purpose: 'work',
    method: 'POST',
    path,
    json: order,
    timeoutMs: order.most_ms + LOOK_MARGIN_MS,
    maxBytes: MAX_SIGHT_BYTES,
    signal,
  })
  return readSnapshot(answer.toString(), path)
}

export async function actOnPage(
  agent: AgentClient,
  order: ActOrder,
  { signal }: Options,
): Promise<ActResult> {
  const path = '/login/act'
  const answer = await agent.call({
    purpose: 'work',
    method: 'POST',
    path,
    json: order,
    timeoutMs: ACT_TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    signal,
  })
  return readResult(answer.toString(), path)
}

/** Values that nothing from the page may tell from now on. */
export async function hideSecrets(
  agent: AgentClient,
  values: readonly string[],
  { signal }: Options,
): Promise<void> {
  await agent.call({
    purpose: 'work',
    method: 'PUT',
    path: '/login/secrets',
    json: { values },
    timeoutMs: HIDE_TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    signal,
  })
}
