// Records a session through the API, as a client does.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import type { Replay } from '@berth/contracts/replays'
import { inSession } from '../rows/in-session.ts'
import { HttpClient } from './http-client.ts'

const LOOK_EVERY_MS = 50
const WAIT_TIMEOUT_MS = 30_000

export class SessionReplay {
  readonly #browser: Browser
  readonly #http: HttpClient
  readonly #replay: Replay
  /** By this machine's clock, which is also the server's. */
  readonly startedAt: number

  private constructor(browser: Browser, http: HttpClient, replay: Replay) {
    this.#browser = browser
    this.#http = http
    this.#replay = replay
    this.startedAt = Date.parse(replay.started_at!)
  }

  static async start(browser: Browser, body: object): Promise<SessionReplay> {
    const http = new HttpClient()
    const answer = await http.send({
      url: inSession(browser, '/replays'),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.equal(answer.status, 201, answer.text)
    return new SessionReplay(browser, http, JSON.parse(answer.text) as Replay)
  }

  async stop(): Promise<void> {
    const { replay_id: id } = this.#replay
    const answer = await this.#http.send({
      url: inSession(this.#browser, `/replays/${id}/stop`),
      method: 'POST',
    })
    assert.equal(answer.status, 200, answer.text)
  }

  async download(): Promise<Buffer> {
    const url = inSession(this.#browser, `/replays/${this.#replay.replay_id}`)
    const deadline = performance.now() + WAIT_TIMEOUT_MS
    for (;;) {
      const answer = await this.#http.send({ url, method: 'GET' })
      if (answer.status === 200) {
        this.#http.close()
        return answer.bytes
      }
      assert.equal(answer.status, 202, answer.text)
      assert.ok(performance.now() < deadline, 'the video was not ready in time')
      await pause(LOOK_EVERY_MS)
    }
  }
}
