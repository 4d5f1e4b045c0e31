// Gives the data directory to the account of the server, except the instances in it, which stay root's. The directory
// itself is root's too, and sticky: the account can make files there, but not rename or replace `instances`.
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Account } from '../platform/account.ts'

const STICKY = 0o1000
const OTHERS_MAY_PASS = 0o001

/** Returns its real path. */
export function giveDataDirectory(path: string, account: Account): string {
  mkdirSync(path, { recursive: true, mode: 0o711 })
  const real = realpathSync(path)
  if (!isGiven(real, account)) {
    refuseForeignDatabase(join(real, 'postgres', 'cluster'), account)
    giveContents(real, account)
    chownSync(real, 0, account.gid)
    // Last, because it says that all is done. Instances pass through, if others could before.
    chmodSync(real, 0o1770 | (lstatSync(real).mode & OTHERS_MAY_PASS))
  }
  const instances = join(real, 'instances')
  mkdirSync(instances, { recursive: true, mode: 0o711 })
  const stat = lstatSync(instances)
  if (!stat.isDirectory() || stat.uid !== 0) {
    throw new Error(
      `Cannot use "${instances}": it must be a directory of root, but belongs to uid ${stat.uid}; run chown -R root ${instances}`,
    )
  }
  return real
}

/** Makes a directory for the account. One that exists already stays as it is: it may be shared with other machines. */
export function giveDirectory(path: string, { uid, gid }: Account): string {
  if (!statSync(path, { throwIfNoEntry: false })) {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    // Never what a link leads to, which the account could have put there.
    lchownSync(path, uid, gid)
  }
  return realpathSync(path)
}

/** Once only: later, what is in it belongs to the account, which could put anything in the way of root. */
function isGiven(path: string, { gid }: Account): boolean {
  const stat = lstatSync(path)
  return stat.uid === 0 && stat.gid === gid && (stat.mode & STICKY) !== 0
}

/** An earlier version ran the database as another account, which could not go on with files that are not its own. */
function refuseForeignDatabase(cluster: string, { uid }: Account): void {
  try {
    const [pid] = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    const isRunning = realpathSync(`/proc/${Number(pid)}/cwd`) === cluster
    if (!isRunning || statSync(`/proc/${Number(pid)}`).uid === uid) return
  } catch {
    return
  }
  throw new Error(`Cannot use "${cluster}": its database still runs; stop the server that started it`)
}

function giveContents(path: string, account: Account): void {
  for (const { name } of readdirSync(path, { withFileTypes: true })) {
    if (name === 'instances') continue
    give(join(path, name), account)
  }
}

function give(path: string, { uid, gid }: Account): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return
  const isDirectory = stat.isDirectory()
  // A file with another name elsewhere may be somebody else's.
  if (!isDirectory && stat.nlink > 1) return
  if (isDirectory) for (const name of readdirSync(path)) give(join(path, name), { uid, gid })
  if (stat.uid !== uid || stat.gid !== gid) lchownSync(path, uid, gid)
}
