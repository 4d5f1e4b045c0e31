// The account of everything that root starts and that need not be root: the server and its PostgreSQL.
import { readFileSync } from 'node:fs'

export const ACCOUNT_NAME = 'berth'

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** The account to switch to, or undefined when this process is not root. */
export function findAccount(): Account | undefined {
  if (process.getuid!() !== 0) return undefined
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${ACCOUNT_NAME}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (!uid || !gid) {
    throw new Error(
      `Cannot start as root: the account "${ACCOUNT_NAME}", which the server runs as, is missing; run npm run setup`,
    )
  }
  return { uid: Number(uid), gid: Number(gid) }
}
