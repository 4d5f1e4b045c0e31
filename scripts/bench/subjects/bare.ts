import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Cleanup } from '../cleanup.ts'
import { nextMessage } from './next-message.ts'

export const bareServerFile = join(import.meta.dirname, 'bare-server.ts')

export interface BareServer {
  readonly url: string
  readonly pid: number
}

export async function startBareServer(cleanup: Cleanup, databaseHost: string): Promise<BareServer> {
  const child = fork(bareServerFile, { execArgv: [], env: bareEnv({ BARE_DATABASE_HOST: databaseHost }) })
  cleanup.after(() => child.kill())
  const url = (await nextMessage(child)) as string
  return { url, pid: child.pid! }
}

/** As few variables as the server under test gets, and none of the caller's settings. */
export function bareEnv(settings: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  return { PATH, HOME, NODE_ENV: 'production', ...settings }
}
