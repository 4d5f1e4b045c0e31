// PostgreSQL refuses to run as root, so it gets an account that owns nothing else.
import { readFileSync } from 'node:fs'

export const DATABASE_ACCOUNT = 'berth-db'

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** The account to switch to, or undefined when the server does not run as root. */
export function databaseAccount(): Account | undefined {
  if (process.getuid!() !== 0) return undefined
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${DATABASE_ACCOUNT}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (!uid || !gid) {
    throw new Error(
      `Cannot start the embedded database as root: the account "${DATABASE_ACCOUNT}" is missing; run npm run setup, or set DATABASE_URL`,
    )
  }
  return { uid: Number(uid), gid: Number(gid) }
}
