// Building and running an app in this instance; see contracts/app-link.ts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { instancePaths } from '@berth/contracts/link'
import { RECORDS_WAIT_MS, type AppSetup, type BuildOrder } from '@berth/contracts/app-link'
import { readBounded } from '@berth/kit/read-bounded'
import type { AnswerRequest } from '../requests/answer.ts'
import { readJson } from '../requests/body.ts'
import { checked } from '../checks/check.ts'
import { BadRequest } from '../requests/bad-request.ts'
import type { Settings } from '../instance/settings.ts'
import { openApiPort } from './api-port.ts'
import { checks } from './apps.checks.ts'
import { build } from './build/build.ts'
import { MAX_FRAME_BYTES } from './workers/conversation.ts'
import { packFiles, unpackFiles, unpackSource } from './files.ts'
import { placesIn, type Places } from './workers/places.ts'
import { Run } from './run.ts'
import { hasAppUid } from '../user/user.ts'
import { Workers } from './workers/workers.ts'

/** Sources of the runners; build.ts inserts them. */
declare const APP_RUNNERS: { readonly node: string; readonly python: string }

const RUN_PATH = /^\/apps\/runs\/([a-z0-9_]{1,100})$/

class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface Request {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  /** Aborts when the caller leaves. */
  readonly signal: AbortSignal
}

export function appHandlers(settings: Settings): AnswerRequest {
  const host = new AppHost(settings)
  return (request, response) => host.answer(request, response)
}

class AppHost {
  readonly #settings: Settings
  readonly #places: Places
  readonly #runs = new Map<string, Run>()
  #workers: Workers | undefined
  #isApiOpen = false

  constructor(settings: Settings) {
    this.#settings = settings
    this.#places = placesIn(settings)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const url = new URL(request.url ?? '/', 'http://agent')
    try {
      const result = await this.#handle({ request, response, url, signal: gone.signal })
      if (response.headersSent) return
      const text = result === undefined ? undefined : JSON.stringify(result)
      response.writeHead(text === undefined ? 204 : 200).end(text)
    } catch (error) {
      if (response.headersSent) return void response.destroy()
      const status = statusOf(error)
      response.writeHead(status).end(JSON.stringify({ message: (error as Error).message }))
    }
  }

  async #handle(call: Request): Promise<object | undefined | void> {
    const { request, response, url, signal } = call
    const run = RUN_PATH.exec(url.pathname)
    if (run) return this.#handleRun(run[1]!, call)
    switch (`${request.method} ${url.pathname}`) {
      case 'PUT /apps/source':
        return unpackSource(request, this.#places, signal)
      case 'POST /apps/build':
        return this.#build(checked(checks.buildOrder, await readJson(request)), response, signal)
      case 'GET /apps/files':
        return packFiles(this.#places, response)
      case 'PUT /apps/files':
        return unpackFiles(request, this.#places)
      case 'PUT /apps/setup':
        return this.#setUp(checked(checks.appSetup, await readJson(request)))
      default:
        throw new Refused(404, `Cannot ${request.method} ${url.pathname}`)
    }
  }

  async #handleRun(id: string, { request, url, signal }: Request): Promise<object | undefined> {
    if (request.method === 'POST') {
      const { searchParams: query } = url
      const payload = await readPayload(request)
      if (!this.#workers) throw new Refused(503, 'Cannot run anything: no app is set up')
      if (this.#runs.has(id)) throw new Refused(409, `Cannot run "${id}": it was begun before`)
      const worker = this.#workers.take()
      const hasPayload = query.get('payload') === 'true'
      this.#runs.set(id, new Run(worker))
      worker.invoke(
        { id, app: query.get('app') ?? '', action: query.get('action') ?? '', hasPayload },
        payload,
      )
      return undefined
    }
    const run = this.#runs.get(id)
    if (request.method === 'DELETE') {
      run?.kill('It was ended')
      this.#runs.delete(id)
      return undefined
    }
    if (!run) throw new Refused(404, `Cannot find run "${id}"`)
    return { records: await run.after(Number(url.searchParams.get('after')), RECORDS_WAIT_MS, signal) }
  }

  async #build(order: BuildOrder, response: ServerResponse, signal: AbortSignal): Promise<void> {
    await this.#prepare()
    response.writeHead(200)
    response.flushHeaders()
    const settings = this.#settings
    await pipeline(async function* () {
      for await (const line of build(settings, order, signal)) yield `${JSON.stringify(line)}\n`
    }, response)
  }

  async #setUp(setup: AppSetup): Promise<void> {
    await this.#prepare()
    await this.#admitInvocations()
    this.#workers?.close()
    this.#workers = new Workers(this.#settings, setup)
  }

  /** Lets another uid pass to the app, and gives it a home. */
  async #admitInvocations(): Promise<void> {
    if (!hasAppUid()) return
    await chmod(this.#settings.home, 0o711)
    await mkdir(instancePaths.appHome, { recursive: true })
    await chmod(instancePaths.appHome, 0o1777)
  }

  async #prepare(): Promise<void> {
    if (!this.#isApiOpen) openApiPort(this.#settings.egressSocket)
    this.#isApiOpen = true
    await writeFile(this.#places.nodeRunner, APP_RUNNERS.node)
    await writeFile(this.#places.pythonRunner, APP_RUNNERS.python)
  }
}

/** A wrong archive is the sender's fault, and not an error of the agent. */
function statusOf(error: unknown): number {
  if (error instanceof Refused || error instanceof BadRequest) return error.status
  return typeof (error as { code?: unknown }).code === 'string' ? 422 : 500
}

function readPayload(request: IncomingMessage): Promise<Buffer> {
  return readBounded(request, {
    maxBytes: MAX_FRAME_BYTES,
    tooLarge: () => new Refused(413, 'Cannot take the payload: it is too large'),
  })
}
