import type { Socket } from 'node:net'
import type { DevtoolsOptions } from '../devtools/open-devtools.ts'
import { log } from '../log/log.ts'
import type { acceptBidi } from './server.ts'

export interface BidiOptions extends DevtoolsOptions {
  /** Loads the mapper, which is large. */
  readonly loadBidi: () => Promise<typeof acceptBidi>
}

/** A client's WebDriver BiDi websocket. */
export async function passToBidi(connection: Socket, { loadBidi, ...options }: BidiOptions): Promise<void> {
  try {
    const accept = await loadBidi()
    // The mapper leaves some rejections unhandled. They may fail a client's command, but must not end the agent.
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', (error) => log('Unhandled rejection in WebDriver BiDi', error))
    accept(connection, options)
  } catch (error) {
    log('Cannot start WebDriver BiDi', error)
    connection.destroy()
  }
}
