// Connects to Chromium's debugging port, also while Chromium restarts.
import { connect, type Socket } from 'node:net'
import { pause } from '@berth/kit/pause'
import type { Chromium } from '../chromium/chromium.ts'

/** How long a client waits while Chromium restarts. */
const WAIT_MS = 15_000
const RETRY_MS = 20

export interface DevtoolsOptions {
  readonly port: number
  readonly chromium: Pick<Chromium, 'whenOpen'>
}

/** Not read yet. Undefined when Chromium is not there in time, or the client has left. */
export async function openDevtools(
  client: Pick<Socket, 'destroyed'>,
  { port, chromium }: DevtoolsOptions,
): Promise<Socket | undefined> {
  const deadline = performance.now() + WAIT_MS
  while (!client.destroyed) {
    const left = deadline - performance.now()
    const { browser } = await chromium.whenOpen(left)
    if (browser !== 'ready' || left <= 0) return undefined
    const devtools = await dial(port)
    if (devtools) return devtools
    // Chromium has ended; its exit event has not arrived yet.
    await pause(RETRY_MS)
  }
  return undefined
}

async function dial(port: number): Promise<Socket | undefined> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  socket.pause()
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket))
    socket.on('error', () => resolve(undefined))
  })
}
