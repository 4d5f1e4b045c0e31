import type { Socket } from 'node:net'
import { log } from '../log/log.ts'
import type { playwrightServer, ServeOptions } from './server.ts'

export interface PassOptions extends ServeOptions {
  /** Loads what serves Playwright's own protocol, which few sessions need. */
  readonly loadPlaywright: () => Promise<typeof playwrightServer>
}

/** Returns what accepts clients of Playwright's own protocol. */
export function passToPlaywright({ loadPlaywright, ...options }: PassOptions): (connection: Socket) => void {
  let loaded: Promise<(connection: Socket) => void> | undefined
  return (connection) => {
    loaded ??= loadPlaywright().then((serve) => serve(options))
    loaded.then(
      (accept) => accept(connection),
      (error: unknown) => {
        log('Cannot serve Playwright', error)
        connection.destroy()
      },
    )
  }
}
