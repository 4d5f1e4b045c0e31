// A plain request to the debugging port of a session's browser. Anything in the instance may answer it.
import { request, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { unlessAborted } from '@berth/kit/abort'
import type { GatewaySession } from './session.ts'

export interface BrowserAnswer {
  readonly answer: IncomingMessage
  /** The connection. Its owner destroys it. */
  readonly stream: Duplex
}

/** The caller must hold the session. */
export async function getFromBrowser(
  session: Pick<GatewaySession, 'connect' | 'devtoolsPath'>,
  path: string,
  signal: AbortSignal,
): Promise<BrowserAnswer> {
  // Waits until the browser accepts clients.
  await unlessAborted(session.devtoolsPath(), signal)
  const stream = await session.connect('cdp', signal)
  stream.on('error', () => {})
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ createConnection: () => stream, path, headers: { host: '127.0.0.1' }, signal })
        .once('response', resolve)
        .on('error', reject)
        .end()
    })
    return { answer, stream }
  } catch (error) {
    stream.destroy()
    throw error
  }
}
