// Forwards a client's connection to the debugging port, byte for byte.
import { connect, type Socket } from 'node:net'
import { pause } from '@berth/kit/pause'
import { pipeBothWays } from '@berth/kit/pipe-both-ways'
import type { Chromium } from '../chromium/chromium.ts'

/** How long a client waits while Chromium restarts. */
const WAIT_MS = 15_000
const RETRY_MS = 20

export interface DevtoolsOptions {
  readonly port: number
  readonly chromium: Pick<Chromium, 'whenOpen'>
}

export async function passToDevtools(link: Socket, { port, chromium }: DevtoolsOptions): Promise<void> {
  link.setNoDelay(true)
  const deadline = performance.now() + WAIT_MS
  while (!link.destroyed) {
    const left = deadline - performance.now()
    const { browser } = await chromium.whenOpen(left)
    if (browser !== 'ready' || left <= 0) break
    const devtools = await dial(port)
    if (devtools) return pipeBothWays(link, devtools)
    // Chromium has ended; its exit event has not arrived yet.
    await pause(RETRY_MS)
  }
  link.destroy()
}

async function dial(port: number): Promise<Socket | undefined> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket))
    socket.on('error', () => resolve(undefined))
  })
}
