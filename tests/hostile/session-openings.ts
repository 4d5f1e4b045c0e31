// Session URLs as the server creates them, and forged ones.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { Keyring } from '@berth/server/platform/secrets/keyring'
import { SealedBox } from '@berth/server/platform/secrets/sealed-box'
import type { Answer } from '../conformance/http-exchange.ts'
import { eventually } from '../fixtures/host.ts'
import type { TestServer } from '../fixtures/server.ts'
import { createSession, instanceOf, query, type Session } from '../fixtures/sessions.ts'
import { RawConnection } from './raw-connection.ts'

type Audience = 'cdp' | 'bidi' | 'playwright' | 'live'

/** A path that needs a token. */
export interface Place<A extends string = Audience> {
  /** With the token in the place of `{token}`, or in the query. */
  readonly path: string
  readonly isWebSocket: boolean
  readonly audience: A
}

export const places: readonly Place[] = [
  { path: '/browser/cdp', isWebSocket: true, audience: 'cdp' },
  { path: '/browser/cdp/', isWebSocket: true, audience: 'cdp' },
  { path: '/browser/cdp/devtools/page/AB12', isWebSocket: true, audience: 'cdp' },
  { path: '/browser/cdp/devtools/browser/AB12', isWebSocket: true, audience: 'cdp' },
  { path: '/browser/webdriver/session', isWebSocket: true, audience: 'bidi' },
  { path: '/browser/playwright', isWebSocket: true, audience: 'playwright' },
  { path: '/browser/live/screen', isWebSocket: true, audience: 'live' },
  { path: '/browser/cdp/json/version', isWebSocket: false, audience: 'cdp' },
  { path: '/browser/cdp/json/list', isWebSocket: false, audience: 'cdp' },
  { path: '/browser/cdp/json', isWebSocket: false, audience: 'cdp' },
  { path: '/browser/cdp/json/protocol', isWebSocket: false, audience: 'cdp' },
]

/** Their token is a segment of the path, and a plain request for the first gets a page. */
export const devtoolsPlaces: readonly Place<'devtools'>[] = [
  { path: '/browser/devtools/{token}/page/AB12', isWebSocket: true, audience: 'devtools' },
  { path: '/browser/devtools/{token}/front_end/panels/a.js', isWebSocket: false, audience: 'devtools' },
]

export const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

export function tokenOf(url: string): string {
  return new URL(url).searchParams.get('jwt')!
}

/** By purpose, for a headful session. */
export function tokensOf(session: Session): Record<Audience, string> {
  return {
    cdp: tokenOf(session.cdp_ws_url),
    bidi: tokenOf(session.webdriver_ws_url),
    playwright: tokenOf(session.playwright_ws_url),
    live: tokenOf(session.browser_live_view_url!),
  }
}

/** The server's signing secret, so that a forged token has only the fault that the test wants. */
export async function readTokenSecret(server: TestServer): Promise<Buffer> {
  const name = 'session-tokens'
  const statement = 'SELECT sealed FROM service_secrets WHERE name = $1'
  const [row] = await query<{ sealed: Buffer }>(server, statement, [name])
  const box = new SealedBox(await Keyring.open({ dataDir: server.dataDir, fromSetting: [] }))
  return Buffer.from(box.open(row!.sealed, `service_secrets/sealed/${name}`), 'base64')
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

/** The answer to exactly these bytes; undefined if the connection closes without one. */
export async function exchange(server: TestServer, lines: readonly string[]): Promise<Answer | undefined> {
  const connection = await RawConnection.open(server.url)
  try {
    connection.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
    return await connection.answer()
  } finally {
    connection.destroy()
  }
}

/** Opens the path as a client would, with the given headers instead of the usual ones. */
export function openingOf(server: TestServer, place: Place<string>, token: string): string[] {
  const { host } = new URL(server.url)
  const target = place.path.includes('{token}')
    ? place.path.replace('{token}', () => token)
    : `${place.path}?jwt=${token}`
  const line = `GET ${target} HTTP/1.1`
  return [line, `Host: ${host}`, ...(place.isWebSocket ? HANDSHAKE : [])]
}

/** Counts how often a client reached the browser of a fake instance, which prints a line each time. */
export class UpstreamWitness {
  readonly #server: TestServer
  readonly #marker: Session
  #marks = 0

  private constructor(server: TestServer, marker: Session) {
    this.#server = server
    this.#marker = marker
  }

  static async of(server: TestServer): Promise<UpstreamWitness> {
    return new UpstreamWitness(server, await createSession(server))
  }

  /** All so far. Lines come in order, so a line of another session proves that all earlier ones are here. */
  async count(session: Session): Promise<number> {
    const opening = openingOf(this.#server, places[0]!, tokenOf(this.#marker.cdp_ws_url))
    assert.equal((await exchange(this.#server, opening))?.status, 101)
    this.#marks++
    const marker = await instanceOf(this.#server, this.#marker)
    await eventually('the line of the marker is there', () => this.#linesOf(marker) === this.#marks)
    return this.#linesOf(await instanceOf(this.#server, session))
  }

  #linesOf(instanceId: string): number {
    const line = new RegExp(`^fake instance ${instanceId}: (cdp|bidi|playwright|screen) connection$`, 'gm')
    return this.#server.output().match(line)?.length ?? 0
  }
}
