// One WebDriver BiDi session. The mapper translates it to the debugging protocol over its own connection
// to Chromium. The mapper does not manage sessions, so their start and end are handled here.
// https://w3c.github.io/webdriver-bidi/#module-session
import { randomUUID } from 'node:crypto'
import type { WebSocket } from 'ws'
import { BidiServer } from 'chromium-bidi/out/Default/gen/src/bidiMapper/BidiMapper.js'
import { BidiParser } from 'chromium-bidi/out/Default/gen/src/bidiTab/BidiParser.js'
import { MapperCdpConnection } from 'chromium-bidi/out/Default/gen/src/cdp/CdpConnection.js'
import { SmallWebSocket } from '../cdp/websocket.ts'
import type { DevtoolsOptions } from '../devtools/pass-to-devtools.ts'

const READY_MS = 15_000
/** By then a closing Chromium has disconnected, unless something blocks it. */
const CLOSING_MS = 3_000

interface Command {
  readonly id: number
  readonly method: string
  readonly params: object
}

export async function serveSession(client: WebSocket, { port, chromium }: DevtoolsOptions): Promise<void> {
  // Messages that arrive while the mapper starts.
  const early: string[] = []
  const hold = (data: Buffer) => void early.push(data.toString())
  client.on('message', hold)

  const { devtools_path: path } = await chromium.whenOpen(READY_MS)
  if (path === null) throw new Error('Chromium is not ready')
  let onCdpMessage: ((text: string) => unknown) | undefined
  const session = new Session(client)
  const socket = await SmallWebSocket.open(port, path, {
    onMessage: (text) => onCdpMessage?.(text),
    onClose: () => {
      session.answerClose()
      client.close(1001, 'Chromium has ended')
    },
  })
  client.once('close', () => socket.close())
  const cdp = new MapperCdpConnection({
    setOnMessage: (handler) => (onCdpMessage = handler),
    sendMessage: (text) => socket.send(text),
    close: () => socket.close(),
  })
  const mapper = await BidiServer.createAndStart(
    session,
    cdp,
    await cdp.createBrowserSession(),
    '',
    new BidiParser(),
  )
  client.once('close', () => mapper.close())
  client.off('message', hold)
  client.on('message', (data: Buffer) => session.take(data.toString()))
  for (const text of early) session.take(text)
}

/** The mapper's transport: forwards commands only while the session exists. */
class Session {
  readonly #client: WebSocket
  readonly #id = randomUUID()
  #toMapper: ((command: never) => unknown) | undefined
  #newId: number | undefined
  #closeId: number | undefined
  #closeAnswer: string | undefined
  #hasBegun = false

  constructor(client: WebSocket) {
    this.#client = client
  }

  setOnMessage(handler: (command: never) => unknown): void {
    this.#toMapper = handler
  }

  sendMessage(message: object): void {
    const answer = message as { id?: number; type?: string; result?: object }
    if (this.#newId !== undefined && answer.id === this.#newId) {
      this.#newId = undefined
      this.#hasBegun = answer.type === 'success'
      if (this.#hasBegun) answer.result = { ...withNames(answer.result), sessionId: this.#id }
    }
    const text = JSON.stringify(answer)
    if (this.#closeId === undefined || answer.id !== this.#closeId) return this.#client.send(text)
    this.#closeAnswer = text
    const timer = setTimeout(() => this.answerClose(), CLOSING_MS)
    this.#client.once('close', () => clearTimeout(timer))
  }

  close(): void {
    this.#toMapper = undefined
  }

  /**
   * The mapper answers browser.close before it even tells Chromium. A client that reconnects on that answer would
   * reach the closing Chromium, so the answer waits until Chromium has disconnected.
   */
  answerClose(): void {
    if (this.#closeAnswer !== undefined) this.#client.send(this.#closeAnswer)
    this.#closeAnswer = undefined
  }

  take(text: string): void {
    const command = parse(text)
    if (!command) return this.#refuse(null, 'invalid argument', 'The message is not a command')
    const { id, method } = command
    if (method === 'session.status') {
      return this.#answer(id, { ready: !this.#hasBegun, message: this.#hasBegun ? 'in use' : 'ready' })
    }
    if (method === 'session.new') {
      if (this.#hasBegun || this.#newId !== undefined) {
        return this.#refuse(id, 'session not created', 'This connection has a session')
      }
      this.#newId = id
    } else if (!this.#hasBegun) {
      return this.#refuse(id, 'invalid session id', 'There is no session yet: ask for session.new')
    } else if (method === 'session.end') {
      this.#answer(id, {})
      return this.#client.close(1000)
    } else if (method === 'browser.close') {
      this.#closeId = id
    }
    // SAFETY: the mapper checks methods and parameters itself.
    void this.#toMapper?.(command as never)
  }

  #answer(id: number, result: object): void {
    this.#client.send(JSON.stringify({ type: 'success', id, result }))
  }

  #refuse(id: number | null, error: string, message: string): void {
    this.#client.send(JSON.stringify({ type: 'error', id, error, message }))
  }
}

interface NewSession {
  readonly capabilities?: Readonly<Record<string, unknown>>
}

/** The mapper returns product and revision, but clients expect a name and a version. */
function withNames(result: NewSession = {}): NewSession {
  const [, name = '', browserVersion] =
    /^(\w+)\/([\d.]+)$/.exec(String(result.capabilities?.['browserName'])) ?? []
  if (browserVersion === undefined) return result
  // Headless Chromium is the same browser.
  const browserName = name.replace('Headless', '').toLowerCase()
  return {
    ...result,
    capabilities: { ...result.capabilities, browserName, browserVersion, platformName: 'linux' },
  }
}

function parse(text: string): Command | undefined {
  try {
    const { id, method, params } = JSON.parse(text) as Command
    const isCommand = Number.isSafeInteger(id) && id >= 0 && typeof method === 'string'
    return isCommand && typeof params === 'object' && params !== null ? { id, method, params } : undefined
  } catch {
    return undefined
  }
}
