// One WebDriver BiDi session. The mapper translates it to the debugging protocol over its own connection
// to Chromium. The mapper does not manage sessions, so their start and end are handled here.
// https://w3c.github.io/webdriver-bidi/#module-session
import { randomUUID } from 'node:crypto'
import type { WebSocket } from 'ws'
import { BidiServer } from 'chromium-bidi/out/Default/gen/src/bidiMapper/BidiMapper.js'
import { BidiParser } from 'chromium-bidi/out/Default/gen/src/bidiTab/BidiParser.js'
import { MapperCdpConnection } from 'chromium-bidi/out/Default/gen/src/cdp/CdpConnection.js'
import { SmallWebSocket } from '../cdp/websocket.ts'
import type { DevtoolsOptions } from '../devtools/open-devtools.ts'
import { channelOf, readCommand, type Command, type Malformed } from './command.ts'
import { OwnCommands, whenPagesAreKnown } from './first-pages.ts'
import { oneByOne } from './one-by-one.ts'

const READY_MS = 15_000
/** By then a closing Chromium has disconnected, unless something blocks it. */
const CLOSING_MS = 3_000

export async function serveSession(client: WebSocket, { port, chromium }: DevtoolsOptions): Promise<void> {
  // Messages that arrive while the mapper starts.
  const early: string[] = []
  const hold = (data: Buffer) => void early.push(data.toString())
  client.on('message', hold)

  const { devtools_path: path } = await chromium.whenOpen(READY_MS)
  if (path === null) throw new Error('Chromium is not ready')
  let onCdpMessage: ((text: string) => unknown) | undefined
  const session = new Session(client)
  let source: SmallWebSocket | undefined
  const socket = await SmallWebSocket.open(port, path, {
    onMessage: oneByOne((text) => onCdpMessage?.(text), {
      pause: () => source?.pause(),
      resume: () => source?.resume(),
    }),
    onClose: () => {
      session.answerClose()
      client.close(1001, 'Chromium has ended')
    },
  })
  source = socket
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

interface Answer {
  readonly id?: number
  readonly type?: string
  result?: object
}

/** The mapper's transport: forwards commands only while the session exists. */
class Session {
  readonly #client: WebSocket
  readonly #id = randomUUID()
  readonly #own = new OwnCommands()
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
    const answer = message as Answer
    if (this.#own.take(answer)) return
    if (this.#newId !== undefined && answer.id === this.#newId) return void this.#begin(answer)
    const text = JSON.stringify(answer)
    if (this.#closeId === undefined || answer.id !== this.#closeId) return this.#client.send(text)
    this.#closeAnswer = text
    const timer = setTimeout(() => this.answerClose(), CLOSING_MS)
    this.#client.once('close', () => clearTimeout(timer))
  }

  close(): void {
    this.#toMapper = undefined
  }

  /** Answers session.new. Until then, other commands are refused. */
  async #begin(answer: Answer): Promise<void> {
    const isNew = answer.type === 'success'
    if (isNew) {
      await whenPagesAreKnown((method, params) =>
        this.#own.ask((command) => this.#toMapper?.(command as never), method, params),
      )
      answer.result = { ...withNames(answer.result), sessionId: this.#id }
    }
    this.#hasBegun = isNew
    this.#newId = undefined
    this.#client.send(JSON.stringify(answer))
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
    const command = readCommand(text)
    if ('problem' in command) return this.#refuse(command, 'invalid argument', command.problem)
    const { id, method } = command
    if (method === 'session.status') {
      const message = this.#hasBegun ? 'already connected' : 'ready'
      return this.#answer(command, { ready: !this.#hasBegun, message })
    }
    if (method === 'session.new') {
      if (this.#hasBegun || this.#newId !== undefined) {
        return this.#refuse(command, 'session not created', 'This connection has a session')
      }
      this.#newId = id
    } else if (!this.#hasBegun) {
      return this.#refuse(command, 'invalid session id', 'There is no session yet: ask for session.new')
    } else if (method === 'session.end') {
      this.#answer(command, {})
      return this.#client.close(1000)
    } else if (method === 'browser.close') {
      this.#closeId = id
    }
    // SAFETY: the mapper checks methods and parameters itself.
    void this.#toMapper?.(command as never)
  }

  #answer(command: Command, result: object): void {
    this.#client.send(JSON.stringify({ type: 'success', id: command.id, result, ...channelOf(command) }))
  }

  #refuse(
    command: Pick<Command, 'goog:channel'> & Pick<Malformed, 'id'>,
    error: string,
    message: string,
  ): void {
    this.#client.send(
      JSON.stringify({ type: 'error', id: command.id, error, message, ...channelOf(command) }),
    )
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
