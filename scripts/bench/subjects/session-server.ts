// Our server with real sessions, from the working tree. It is pinned together with all its children.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Kernel } from 'kernel-sdk-0-84'
import type { CreateBrowserPoolRequest } from '@berth/contracts/browser-pools'
import type { Browser, CreateBrowserRequest } from '@berth/contracts/browsers'
import { instancesDirOf } from '@berth/server/instances/local/instances-place'
import { commandOf, cpuMsOf, treeOf } from '../measure/processes.ts'
import { whenQuiet } from '../measure/quiet.ts'
import type { FetchOptions } from '../../../tests/fixtures/server.ts'
import { HttpClient, type HttpAnswer } from './http-client.ts'
import { postmasterOf } from './postmaster.ts'
import type { Started } from './start.ts'

const SETTLE_TIMEOUT_MS = 120_000
const LOOK_EVERY_MS = 50

export interface ServerSettings {
  /** Warm instances to keep ready. */
  readonly warmHeadless?: number
  readonly warmHeadful?: number
  /** Instances without a browser to keep ready. */
  readonly empty?: number
  /** Settings of a server whose sessions are in the Pods of a cluster. */
  readonly cluster?: Readonly<Record<string, string>>
  /** Where sessions in deep standby have their memory, and after how many seconds; by default there is none. */
  readonly deepStandby?: { readonly swap: string; readonly seconds: number }
}

export type SessionRequest = CreateBrowserRequest & { readonly standby_after_seconds?: number }

export interface ServerProcesses {
  /** The server with its helpers, without its database and the warden. */
  readonly daemon: readonly number[]
  /** The process that cleans up if the server is killed. */
  readonly warden: readonly number[]
  readonly postgres: readonly number[]
  /** By instance: all processes in it and around it. */
  readonly instances: ReadonlyMap<string, readonly number[]>
}

export class SessionServer {
  readonly url: string
  readonly pid: number
  readonly dataDir: string
  readonly settings: ServerSettings
  readonly #started: Started
  readonly #effort: { readonly isJudged: boolean }
  readonly #headers: Record<string, string>
  readonly #http = new HttpClient()
  /** The published client, as agents use it. */
  readonly client: Kernel

  constructor(
    started: Started,
    options: { dataDir: string; settings: ServerSettings; effort: { isJudged: boolean } },
  ) {
    this.#started = started
    this.#effort = options.effort
    this.url = started.url
    this.pid = started.pid
    this.dataDir = options.dataDir
    this.settings = options.settings
    const key = readFileSync(join(options.dataDir, 'api-key'), 'utf8').trim()
    this.#headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    this.client = new Kernel({ baseURL: this.url, apiKey: key, maxRetries: 0 })
  }

  /** Returns the API's answer, whatever its status. */
  tryCreate(body: SessionRequest, http = this.#http): Promise<HttpAnswer> {
    return this.#send('POST', '/browsers', { body: JSON.stringify(body), http })
  }

  async create(body: SessionRequest, http = this.#http): Promise<Browser> {
    const answer = await this.tryCreate(body, http)
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text) as Browser
  }

  async get(id: string): Promise<Browser> {
    const answer = await this.read(`/browsers/${id}`)
    return JSON.parse(answer.text) as Browser
  }

  /** Returns how long the answer took. */
  async delete({ session_id: id }: Pick<Browser, 'session_id'>): Promise<number> {
    const answer = await this.#send('DELETE', `/browsers/${id}`)
    assert.equal(answer.status, 204, answer.text)
    return answer.elapsedMs
  }

  async createPool(body: CreateBrowserPoolRequest): Promise<{ id: string }> {
    const answer = await this.#send('POST', '/browser_pools', { body: JSON.stringify(body) })
    assert.equal(answer.status, 201, answer.text)
    return JSON.parse(answer.text) as { id: string }
  }

  async acquire(poolId: string): Promise<Browser> {
    const answer = await this.#send('POST', `/browser_pools/${poolId}/acquire`, { body: '{}' })
    assert.equal(answer.status, 200, answer.text)
    return JSON.parse(answer.text) as Browser
  }

  async release(poolId: string, { session_id }: Browser, body: object): Promise<void> {
    const path = `/browser_pools/${poolId}/release`
    const answer = await this.#send('POST', path, { body: JSON.stringify({ session_id, ...body }) })
    assert.equal(answer.status, 204, answer.text)
  }

  async deletePool({ id }: { id: string }): Promise<void> {
    const answer = await this.#send('DELETE', `/browser_pools/${id}`, { body: '{"force":true}' })
    assert.equal(answer.status, 204, answer.text)
  }

  /** Creates a profile from a tar and returns its id. */
  async importProfile(tar: Buffer): Promise<string> {
    const made = await this.#send('POST', '/profiles', { body: '{}' })
    assert.equal(made.status, 201, made.text)
    const { id } = JSON.parse(made.text) as { id: string }
    const answer = await fetch(`${this.url}/profiles/${id}/archive`, {
      method: 'PUT',
      headers: { ...this.#headers, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(tar),
    })
    assert.equal(answer.status, 201, await answer.text())
    return id
  }

  /** Calls an operation of a session, such as computer/click_mouse. */
  async control({ session_id: id }: Browser, operation: string, body: object): Promise<HttpAnswer> {
    const answer = await this.#send('POST', `/browsers/${id}/${operation}`, { body: JSON.stringify(body) })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  /** A GET that succeeds. */
  async read(path: string): Promise<HttpAnswer> {
    const answer = await this.#send('GET', path)
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  /** The cheapest request with authentication: reads the first project. */
  async cheapestRequest(): Promise<HttpAnswer> {
    return this.read('/org/projects/Default')
  }

  /** Uploads an extension for sessions to be created with. */
  async uploadExtension(name: string, archive: Buffer): Promise<void> {
    const form = new FormData()
    form.set('name', name)
    form.set('file', new Blob([new Uint8Array(archive)]), `${name}.zip`)
    const { authorization } = this.#headers
    const answer = await fetch(`${this.url}/extensions`, {
      method: 'POST',
      headers: { authorization: authorization! },
      body: form,
    })
    assert.equal(answer.status, 201, await answer.text())
  }

  /** The URL as tests ask for it. */
  fetch(path: string, { headers, ...init }: FetchOptions = {}): Promise<Response> {
    const authorization = this.#headers['authorization']!
    return fetch(this.url + path, { ...init, headers: { authorization, ...headers } })
  }

  async invoke(body: object, http = this.#http): Promise<HttpAnswer> {
    const answer = await this.#send('POST', '/invocations', { body: JSON.stringify(body), http })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  instanceDir(id: string): string {
    return join(instancesDirOf(this.dataDir), id)
  }

  instanceIds(): string[] {
    return readdirSync(instancesDirOf(this.dataDir)).filter((name) => /^[a-z0-9]/.test(name))
  }

  processes(): ServerProcesses {
    const postmaster = postmasterOf(this.dataDir)
    const all = treeOf(this.pid)
    const instances = new Map<string, number[]>()
    for (const id of this.instanceIds()) {
      // The process that has its directory among its arguments; all others descend from it.
      const root = all.find((pid) => commandOf(pid).includes(`/${id}/pub`))
      if (root !== undefined) instances.set(id, treeOf(root))
    }
    const postgres = treeOf(postmaster)
    const warden = all.filter((pid) => commandOf(pid).includes('berth-warden'))
    const besides = new Set([...[...instances.values()].flat(), ...postgres, ...warden])
    return { daemon: all.filter((pid) => !besides.has(pid)), warden, postgres, instances }
  }

  /** CPU time of the server, its database and all existing instances. */
  cpuMs(): number {
    return cpuMsOf(treeOf(this.pid))
  }

  /** Warm instances, as the server reports them. */
  async warmCount(kind: 'headless' | 'headful'): Promise<number> {
    const { text } = await this.#send('GET', '/metrics')
    return Number(new RegExp(`^berth_warm_instances\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1])
  }

  /** Waits until the server has all its ready instances, at most the given number of sessions, and is idle. */
  async settled({ sessions = 0 } = {}): Promise<void> {
    const { warmHeadless = 0, warmHeadful = 0, empty = 0, cluster } = this.settings
    const wanted = warmHeadless + warmHeadful + empty + sessions
    const deadline = performance.now() + SETTLE_TIMEOUT_MS
    const isFilled = async () =>
      (cluster !== undefined || this.instanceIds().length === wanted) &&
      (await this.warmCount('headless')) === warmHeadless &&
      (await this.warmCount('headful')) === warmHeadful
    while (!(await isFilled())) {
      assert.ok(performance.now() < deadline, `the server did not have ${wanted} instances ready in time`)
      await pause(LOOK_EVERY_MS)
    }
    await whenQuiet(() => this.cpuMs(), this.#effort)
  }

  async stop(): Promise<void> {
    this.#http.close()
    await this.#started.stop()
  }

  #send(
    method: string,
    path: string,
    { body, http = this.#http }: { body?: string; http?: HttpClient } = {},
  ): Promise<HttpAnswer> {
    const headers = body === undefined ? { authorization: this.#headers['authorization']! } : this.#headers
    // Node does not mark the end of the body of a DELETE.
    const framed =
      body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
    return http.send({ url: this.url + path, method, headers: framed, ...(body !== undefined && { body }) })
  }
}
