import {
  MAX_ANSWER_BYTES,
  MAX_RECORD_BYTES,
  RECORDS_WAIT_MS,
  type RecordingStart,
} from '@berth/contracts/recording'
import type { AgentClient } from './client.ts'

const START_TIMEOUT_MS = 30_000
const ANSWER_MARGIN_MS = 10_000
/** An answer may exceed its limit by one large record. */
const MAX_RECORDS_BYTES = MAX_ANSWER_BYTES + MAX_RECORD_BYTES

interface Options {
  readonly signal?: AbortSignal | undefined
}

/** Resolves when the first picture is taken, or when it is late. */
export async function startRecording(
  agent: AgentClient,
  start: RecordingStart,
  { signal }: Options = {},
): Promise<void> {
  const timeoutMs = START_TIMEOUT_MS
  await agent.call({ purpose: 'work', method: 'POST', path: '/recordings', json: start, timeoutMs, signal })
}

/** Returns the records after that number as soon as there are any; may return none. */
export async function readRecords(
  agent: AgentClient,
  { id, after }: { id: string; after: number },
  { signal }: { signal: AbortSignal },
): Promise<Buffer> {
  return agent.call({
    purpose: 'work',
    method: 'GET',
    path: `/recordings/${id}?after=${after}`,
    timeoutMs: RECORDS_WAIT_MS + ANSWER_MARGIN_MS,
    maxBytes: MAX_RECORDS_BYTES,
    signal,
  })
}

export async function stopRecording(agent: AgentClient, id: string, { signal }: Options = {}): Promise<void> {
  await agent.call({ purpose: 'work', method: 'POST', path: `/recordings/${id}/stop`, signal })
}

export async function forgetRecording(
  agent: AgentClient,
  id: string,
  { signal }: Options = {},
): Promise<void> {
  await agent.call({ purpose: 'work', method: 'DELETE', path: `/recordings/${id}`, signal })
}
