// Calls to the agent of an instance that builds or runs an app. What comes back is the tenant's in the end: bounded,
// and checked against the contract.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Ajv, type ValidateFunction } from 'ajv'
import {
  BuildLine,
  LONGEST_REASON,
  MOST_HELD_LOG_BYTES,
  RECORDS_WAIT_MS,
  RunRecords,
  type AppSetup,
  type BuildOrder,
  type RunRecord,
} from '@berth/contracts/app-link'
import { LARGEST_PAYLOAD } from '@berth/contracts/invocations'
import { AgentError, AgentRefusal, readText, type AgentClient } from '../../instances/agent-client.ts'

const CALL_MS = 30_000
const FILES_MS = 300_000
const MOST_ERROR_BYTES = 64 * 1024
/** Of one answer with records: what is held, one more line, an output, and what JSON makes of them at worst. */
const MOST_RECORDS_BYTES = 6 * (MOST_HELD_LOG_BYTES + LARGEST_PAYLOAD) + 1024 * 1024
/** Of a line of a build; a registry is the longest. */
const MOST_LINE_BYTES = 4 * 1024 * 1024

let checks: { line: ValidateFunction<BuildLine>; records: ValidateFunction<RunRecords> } | undefined

function compiled() {
  if (checks) return checks
  const ajv = new Ajv({ strict: true, allowUnionTypes: true })
  checks = { line: ajv.compile<BuildLine>(BuildLine), records: ajv.compile<RunRecords>(RunRecords) }
  return checks
}

export class AppAgent {
  readonly #agent: AgentClient

  constructor(agent: AgentClient) {
    this.#agent = agent
  }

  async putSource(archive: Readable, signal: AbortSignal): Promise<void> {
    await this.#ask({ method: 'PUT', path: '/apps/source', body: archive, ms: FILES_MS, signal })
  }

  async putFiles(files: Readable, signal: AbortSignal): Promise<void> {
    await this.#ask({ method: 'PUT', path: '/apps/files', body: files, ms: FILES_MS, signal })
  }

  async files(signal: AbortSignal): Promise<Readable> {
    return this.#send({ method: 'GET', path: '/apps/files', signal })
  }

  async setUp(setup: AppSetup, signal: AbortSignal): Promise<void> {
    await this.#ask({ method: 'PUT', path: '/apps/setup', body: JSON.stringify(setup), signal })
  }

  async *build(order: BuildOrder, signal: AbortSignal): AsyncGenerator<BuildLine> {
    const answer = await this.#send({
      method: 'POST',
      path: '/apps/build',
      body: JSON.stringify(order),
      signal,
    })
    for await (const text of linesOf(answer)) {
      const value = parse(text)
      if (!compiled().line(value)) throw new AgentError('The agent gave a wrong line of a build')
      yield value
    }
  }

  async startRun(
    run: { id: string; app: string; action: string; payload: string | null },
    signal: AbortSignal,
  ): Promise<void> {
    const { id, app, action, payload } = run
    const query = new URLSearchParams({ app, action, payload: String(payload !== null) })
    await this.#ask({
      method: 'POST',
      path: `/apps/runs/${id}?${query.toString()}`,
      body: payload ?? '',
      signal,
    })
  }

  async records(id: string, after: number, signal: AbortSignal): Promise<readonly RunRecord[]> {
    const path = `/apps/runs/${id}?after=${after}`
    const text = await this.#ask({ method: 'GET', path, ms: RECORDS_WAIT_MS + CALL_MS, signal })
    const value = parse(text)
    if (!compiled().records(value)) throw new AgentError('The agent gave wrong records of a run')
    return value.records
  }

  async forgetRun(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask({ method: 'DELETE', path: `/apps/runs/${id}`, signal })
  }

  async #ask({ ms = CALL_MS, signal, ...call }: Ask): Promise<string> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms / 1000} s`)), ms)
    try {
      const answer = await this.#send({ ...call, signal: AbortSignal.any([signal, late.signal]) })
      return await readText(answer, { path: call.path, mostBytes: MOST_RECORDS_BYTES })
    } finally {
      clearTimeout(timer)
    }
  }

  async #send({ method, path, body, signal }: Omit<Ask, 'ms'>): Promise<IncomingMessage> {
    const answer = await this.#agent.forward({ method, path, headers: {}, body, signal })
    if (answer.statusCode === 200 || answer.statusCode === 204) return answer
    const text = await readText(answer, { path, mostBytes: MOST_ERROR_BYTES })
    const { message } = (parse(text) ?? {}) as { message?: unknown }
    const why =
      typeof message === 'string' ? message.slice(0, LONGEST_REASON) : `it answered ${answer.statusCode}`
    const status = answer.statusCode ?? 0
    throw status < 500 ? new AgentRefusal(status, why) : new AgentError(why)
  }
}

interface Ask {
  readonly method: string
  readonly path: string
  readonly body?: Readable | string | undefined
  readonly ms?: number
  readonly signal: AbortSignal
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let held = ''
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
    held += chunk
    if (held.length > MOST_LINE_BYTES) throw new AgentError('The agent gave too long a line of a build')
    for (let end = held.indexOf('\n'); end !== -1; end = held.indexOf('\n')) {
      yield held.slice(0, end)
      held = held.slice(end + 1)
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
