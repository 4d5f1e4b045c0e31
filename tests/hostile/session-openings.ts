// Session URLs as the server makes them, and as somebody else would.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { Keyring } from '@berth/server/secrets/keyring'
import { SealedBox } from '@berth/server/secrets/sealed-box'
import type { Answer } from '../conformance/http-exchange.ts'
import type { ServerDatabase } from '../conformance/server-database.ts'
import type { TestServer } from '../fixtures/server.ts'
import { RawConnection } from './raw-connection.ts'

/** Where a token is asked for. */
export interface Place {
  readonly path: string
  readonly isWebSocket: boolean
  readonly audience: 'cdp' | 'bidi'
}

export const places: readonly Place[] = [
  { path: '/browser/cdp', isWebSocket: true, audience: 'cdp' },
  { path: '/browser/cdp/', isWebSocket: true, audience: 'cdp' },
  { path: '/browser/cdp/devtools/page/AB12', isWebSocket: true, audience: 'cdp' },
  { path: '/browser/cdp/devtools/browser/AB12', isWebSocket: true, audience: 'cdp' },
  { path: '/browser/webdriver/session', isWebSocket: true, audience: 'bidi' },
  { path: '/browser/cdp/json/version', isWebSocket: false, audience: 'cdp' },
  { path: '/browser/cdp/json/list', isWebSocket: false, audience: 'cdp' },
  { path: '/browser/cdp/json', isWebSocket: false, audience: 'cdp' },
  { path: '/browser/cdp/json/protocol', isWebSocket: false, audience: 'cdp' },
]

export const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

export async function createSession(server: TestServer): Promise<Browser> {
  const response = await server.fetch('/browsers', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ headless: true, timeout_seconds: 3600 }),
  })
  assert.equal(response.status, 200)
  return (await response.json()) as Browser
}

export function tokenOf(url: string): string {
  return new URL(url).searchParams.get('jwt')!
}

/** What the server signs with: so a forgery has nothing wrong but what the test wants wrong. */
export async function readTokenSecret(server: TestServer, database: ServerDatabase): Promise<Buffer> {
  const name = 'session-tokens'
  const [row] = await database.run('SELECT sealed FROM service_secrets WHERE name = $1', [name])
  const box = new SealedBox(await Keyring.open({ dataDir: server.dataDir, fromSetting: [] }))
  return Buffer.from(box.open(row!['sealed'] as Buffer, `service_secrets/sealed/${name}`), 'base64')
}

export function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

export function decode(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
}

export function signToken(header: object, claims: object, secret: Uint8Array | string, hash = 'sha256') {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

/** The answer to these bytes and nothing else; undefined when the connection is closed without one. */
export async function exchange(server: TestServer, lines: readonly string[]): Promise<Answer | undefined> {
  const connection = await RawConnection.open(server.url)
  try {
    connection.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
    return await connection.answer()
  } finally {
    connection.destroy()
  }
}

/** As a client would open the place, but for the headers given instead of its own. */
export function openingOf(server: TestServer, place: Place, token: string): string[] {
  const { host } = new URL(server.url)
  const line = `GET ${place.path}?jwt=${token} HTTP/1.1`
  return [line, `Host: ${host}`, ...(place.isWebSocket ? HANDSHAKE : [])]
}

/** Tells how often anybody got as far as the browser of a fake instance, which prints a line for each. */
export class UpstreamWitness {
  readonly #server: TestServer
  readonly #database: ServerDatabase
  readonly #marker: Browser
  #marks = 0

  private constructor(server: TestServer, database: ServerDatabase, marker: Browser) {
    this.#server = server
    this.#database = database
    this.#marker = marker
  }

  static async of(server: TestServer, database: ServerDatabase): Promise<UpstreamWitness> {
    return new UpstreamWitness(server, database, await createSession(server))
  }

  /** All there were before. Lines come in order, so one of another session tells that they are all here. */
  async count({ session_id: id }: Browser): Promise<number> {
    const { session_id: markerId, cdp_ws_url: url } = this.#marker
    const answer = await exchange(this.#server, openingOf(this.#server, places[0]!, tokenOf(url)))
    assert.equal(answer?.status, 101)
    this.#marks++
    const deadline = performance.now() + 5_000
    while ((await this.#linesOf(markerId)) < this.#marks) {
      assert.ok(performance.now() < deadline, 'the line of the marker is missing')
      await pause(5)
    }
    return this.#linesOf(id)
  }

  async #linesOf(sessionId: string): Promise<number> {
    const [row] = await this.#database.run('SELECT instance_id FROM browsers WHERE id = $1', [sessionId])
    const line = new RegExp(`^fake instance ${String(row!['instance_id'])}: (cdp|bidi) connection$`, 'gm')
    return this.#server.output().match(line)?.length ?? 0
  }
}
