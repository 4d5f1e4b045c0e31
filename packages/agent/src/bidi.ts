import type { Socket } from 'node:net'
import type { DevtoolsOptions } from './cdp.ts'
import { log } from './log.ts'
import { unpack } from './packed.ts'

/** A client's WebDriver BiDi websocket. */
export async function passToBidi(connection: Socket, options: DevtoolsOptions): Promise<void> {
  try {
    const { acceptBidi } = await unpack('bidi')
    // The mapper leaves some rejections unhandled. They may fail a client's command, but must not end the agent.
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', (error) => log('Unhandled rejection in WebDriver BiDi', error))
    acceptBidi(connection, options)
  } catch (error) {
    log('Cannot start WebDriver BiDi', error)
    connection.destroy()
  }
}
