import type { Socket } from 'node:net'
import type { DevtoolsOptions } from './cdp.ts'
import { log } from './log.ts'
import { unpack } from './packed.ts'

/** A client's WebDriver BiDi websocket. */
export async function passToBidi(connection: Socket, options: DevtoolsOptions): Promise<void> {
  try {
    const { acceptBidi } = await unpack('bidi')
    // The mapper leaves some failures to nobody. They end a client's command, and shall end no more.
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', (error) => log('A promise of WebDriver BiDi failed', error))
    acceptBidi(connection, options)
  } catch (error) {
    log('Cannot start WebDriver BiDi', error)
    connection.destroy()
  }
}
