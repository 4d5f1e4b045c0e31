// WebDriver BiDi as the mapper's own server offers it: the mapper runs in a hidden tab of the browser. That server
// answers the commands that start and end sessions itself, and so does this.
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { MapperServerCdpConnection } from 'chromium-bidi/out/Default/gen/src/bidiServer/MapperCdpConnection.js'
import { getMapperTabSource } from 'chromium-bidi/out/Default/gen/src/bidiServer/reader.js'
import { MapperCdpConnection } from 'chromium-bidi/out/Default/gen/src/cdp/CdpConnection.js'
import { endTogether } from './pass-on.ts'

interface Command {
  readonly id?: unknown
  readonly method?: unknown
}

export async function serveWithReferenceMapper(client: WebSocket, cdpUrl: string): Promise<void> {
  const chromium = new WebSocket(cdpUrl, { perMessageDeflate: false, maxPayload: 0 })
  const ended = endTogether(client, chromium)
  await once(chromium, 'open')
  const cdp = new MapperCdpConnection({
    setOnMessage: (handler) => void chromium.on('message', (data: Buffer) => void handler(data.toString())),
    sendMessage: (text: string) => chromium.send(text),
    close: () => chromium.close(),
  })
  const mapper = await MapperServerCdpConnection.create(cdp, await getMapperTabSource(), false)
  const session = mapper.bidiSession()
  session.on('message', (text) => client.send(text))

  let hasSession = false
  const answer = (id: unknown, rest: object) => client.send(JSON.stringify({ id, ...rest }))
  const refuse = (id: unknown, error: string, message: string) =>
    answer(id, { type: 'error', error, message })
  client.on('message', (data: Buffer) => {
    const text = data.toString()
    const command = parse(text)
    if (!command) return refuse(undefined, 'invalid argument', 'The command is not JSON')
    const { id, method } = command
    if (method === 'session.new') {
      if (hasSession) return refuse(id, 'session not created', 'The connection has a session')
      hasSession = true
    } else if (!hasSession) {
      return refuse(id, 'invalid session id', 'There is no session yet')
    } else if (method === 'session.end' || method === 'browser.close') {
      answer(id, { type: 'success', result: {} })
      if (method === 'browser.close') void cdp.sendCommand('Browser.close').catch(() => {})
      return
    }
    void session.sendCommand(text)
  })
  client.resume()
  await ended
}

function parse(text: string): Command | undefined {
  try {
    return JSON.parse(text) as Command
  } catch {
    return undefined
  }
}
