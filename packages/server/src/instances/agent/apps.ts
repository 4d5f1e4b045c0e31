// Builds and runs an app in an instance. The answers can contain anything the tenant's code writes, so they are limited
// in size and checked against the contract.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import {
  BuildLine,
  MAX_HELD_LOG_BYTES,
  RECORDS_WAIT_MS,
  RunRecords,
  type AppSetup,
  type BuildOrder,
  type RunRecord,
} from '@berth/contracts/app-link'
import { MAX_PAYLOAD_BYTES } from '@berth/contracts/invocations'
import { LineSplitter } from '@berth/kit/lines'
import { answerReader } from './answers.ts'
import type { AgentClient, Call } from './client.ts'

const CALL_TIMEOUT_MS = 30_000
const FILES_TIMEOUT_MS = 300_000
/** The largest answer with records: the held log, one more line, an output, and the worst case of JSON escaping. */
const MAX_RECORDS_BYTES = 6 * (MAX_HELD_LOG_BYTES + MAX_PAYLOAD_BYTES) + 1024 * 1024
/** A record of the log has a few bytes at least. */
const MAX_RECORDS_VALUES = 500_000
/** The longest line of a build is a registry. */
const MAX_LINE_BYTES = 4 * 1024 * 1024

const readBuildLine = answerReader(BuildLine)
const readRunRecords = answerReader(RunRecords)

interface Options {
  readonly signal: AbortSignal
}

export async function putSource(agent: AgentClient, archive: Readable, { signal }: Options): Promise<void> {
  const timeoutMs = FILES_TIMEOUT_MS
  await work(agent, { method: 'PUT', path: '/apps/source', body: archive, timeoutMs, signal })
}

export async function putFiles(agent: AgentClient, files: Readable, { signal }: Options): Promise<void> {
  const timeoutMs = FILES_TIMEOUT_MS
  await work(agent, { method: 'PUT', path: '/apps/files', body: files, timeoutMs, signal })
}

export async function openFiles(agent: AgentClient, { signal }: Options): Promise<IncomingMessage> {
  return agent.open({ purpose: 'work', method: 'GET', path: '/apps/files', signal })
}

export async function setUpApp(agent: AgentClient, setup: AppSetup, { signal }: Options): Promise<void> {
  await work(agent, { method: 'PUT', path: '/apps/setup', json: setup, signal })
}

export async function* buildApp(
  agent: AgentClient,
  order: BuildOrder,
  { signal }: Options,
): AsyncGenerator<BuildLine> {
  const path = '/apps/build'
  const answer = await agent.open({ purpose: 'work', method: 'POST', path, json: order, signal })
  const splitter = new LineSplitter({ maxBytes: MAX_LINE_BYTES })
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    for (const line of splitter.split(chunk)) yield readBuildLine(line.toString(), path)
  }
}

export interface Run {
  readonly id: string
  readonly app: string
  readonly action: string
  readonly payload: string | null
}

export async function startRun(agent: AgentClient, run: Run, { signal }: Options): Promise<void> {
  const { id, app, action, payload } = run
  const query = new URLSearchParams({ app, action, payload: String(payload !== null) })
  const path = `/apps/runs/${id}?${query.toString()}`
  await work(agent, { method: 'POST', path, body: payload ?? '', signal })
}

/** Returns the records after the given one as soon as there are any; may return none. */
export async function readRunRecordsAfter(
  agent: AgentClient,
  { id, after }: { id: string; after: number },
  { signal }: Options,
): Promise<readonly RunRecord[]> {
  const path = `/apps/runs/${id}?after=${after}`
  const timeoutMs = RECORDS_WAIT_MS + CALL_TIMEOUT_MS
  const answer = await work(agent, {
    method: 'GET',
    path,
    timeoutMs,
    maxValues: MAX_RECORDS_VALUES,
    signal,
  })
  return readRunRecords(answer.toString(), path).records
}

export async function forgetRun(agent: AgentClient, id: string, { signal }: Options): Promise<void> {
  await work(agent, { method: 'DELETE', path: `/apps/runs/${id}`, signal })
}

function work(agent: AgentClient, call: Omit<Call, 'purpose'>): Promise<Buffer> {
  return agent.call({
    timeoutMs: CALL_TIMEOUT_MS,
    maxBytes: MAX_RECORDS_BYTES,
    ...call,
    purpose: 'work',
  })
}
