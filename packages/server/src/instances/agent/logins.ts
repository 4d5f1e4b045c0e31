// Page snapshots and page actions for logins.
import {
  ActResult,
  PageSnapshot,
  PasskeysState,
  Photo,
  StorageResult,
  type ActOrder,
  type LookOrder,
  type PhotoOrder,
  type PasskeysOrder,
  type StorageOrder,
  type VisitOrder,
} from '@berth/contracts/page-snapshot'
import { answerReader } from './answers.ts'
import type { AgentClient } from './client.ts'

/** Added to the agent's own wait: Chromium may have to restart, and a page may be slow to read. */
const LOOK_MARGIN_MS = 40_000
const ACT_TIMEOUT_MS = 60_000
const PHOTO_TIMEOUT_MS = 20_000
const MAX_PHOTO_BYTES = 512 * 1024
const HIDE_TIMEOUT_MS = 10_000
const STORE_TIMEOUT_MS = 120_000
/** The agent's own limit, with the worst case of JSON escaping. */
const MAX_SIGHT_BYTES = 12 * 1024 * 1024
const MAX_SIGHT_VALUES = 300_000
const MAX_ANSWER_BYTES = 64 * 1024
/** Of the most keys, each as long as may be. */
const MAX_PASSKEYS_BYTES = 4 * 1024 * 1024
const PASSKEYS_TIMEOUT_MS = 60_000

const readSnapshot = answerReader(PageSnapshot)
const readResult = answerReader(ActResult)
const readPhoto = answerReader(Photo)
const readPasskeys = answerReader(PasskeysState)
const readStored = answerReader(StorageResult)

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
    maxValues: MAX_SIGHT_VALUES,
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

export async function orderPasskeys(
  agent: AgentClient,
  order: PasskeysOrder,
  { signal }: Options,
): Promise<PasskeysState> {
  const path = '/login/passkeys'
  const answer = await agent.call({
    purpose: 'work',
    method: 'POST',
    path,
    json: order,
    timeoutMs: PASSKEYS_TIMEOUT_MS,
    maxBytes: MAX_PASSKEYS_BYTES,
    signal,
  })
  return readPasskeys(answer.toString(), path)
}

export async function replaceStorage(
  agent: AgentClient,
  order: StorageOrder,
  { signal }: Options,
): Promise<StorageResult> {
  const path = '/login/storage'
  const answer = await agent.call({
    purpose: 'work',
    method: 'PUT',
    path,
    json: order,
    timeoutMs: STORE_TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    signal,
  })
  return readStored(answer.toString(), path)
}

export async function photographPage(
  agent: AgentClient,
  order: PhotoOrder,
  { signal }: Options,
): Promise<Photo> {
  const path = '/login/photo'
  const answer = await agent.call({
    purpose: 'work',
    method: 'POST',
    path,
    json: order,
    timeoutMs: PHOTO_TIMEOUT_MS,
    maxBytes: MAX_PHOTO_BYTES,
    signal,
  })
  return readPhoto(answer.toString(), path)
}

/** From now on, page snapshots must not contain these values. */
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
