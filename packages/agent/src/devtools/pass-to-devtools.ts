// Forwards a client's connection to the debugging port, byte for byte.
import type { Socket } from 'node:net'
import { pipeBothWays } from '@berth/kit/pipe-both-ways'
import { openDevtools, type DevtoolsOptions } from './open-devtools.ts'

export async function passToDevtools(link: Socket, options: DevtoolsOptions): Promise<void> {
  link.setNoDelay(true)
  const devtools = await openDevtools(link, options)
  if (devtools) pipeBothWays(link, devtools)
  else link.destroy()
}
