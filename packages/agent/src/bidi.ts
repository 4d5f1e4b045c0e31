import type { Socket } from 'node:net'
import type { acceptBidi } from './bidi/server.ts'
import type { DevtoolsOptions } from './cdp.ts'
import { log } from './log.ts'

/** The bundle of bidi/server.ts, compressed and in base 64; see build.ts. */
declare const PACKED_BIDI_SERVER: string

let server: Promise<{ acceptBidi: typeof acceptBidi }> | undefined

/** A client's WebDriver BiDi websocket. */
export async function passToBidi(connection: Socket, options: DevtoolsOptions): Promise<void> {
  try {
    const { acceptBidi: accept } = await (server ??= unpack())
    // The mapper leaves some failures to nobody. They end a client's command, and shall end no more.
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', (error) => log('A promise of WebDriver BiDi failed', error))
    accept(connection, options)
  } catch (error) {
    log('Cannot start WebDriver BiDi', error)
    connection.destroy()
  }
}

async function unpack(): Promise<{ acceptBidi: typeof acceptBidi }> {
  const { brotliDecompressSync } = await import('node:zlib')
  const source = brotliDecompressSync(Buffer.from(PACKED_BIDI_SERVER, 'base64'))
  // SAFETY: it is that module.
  return (await import(`data:text/javascript;base64,${source.toString('base64')}`)) as {
    acceptBidi: typeof acceptBidi
  }
}
