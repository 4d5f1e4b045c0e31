// Starts a PostgreSQL program, which refuses to run as root. The kernel stops it when the server dies. For a caller that
// is root, it runs as our account, and its files stay reachable even if the checkout is below a directory that the
// account may not enter, such as /root. A server that root started has that account already.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { ChildOptions } from '@berth/kit/child-process'
import type { Account } from '../../account.ts'

export interface Launcher {
  readonly root: string
  command(program: string, args: string[]): ChildOptions
  /** The path as the started program sees it. */
  seenPath(path: string): string
}

const MOUNTED_BINARIES = '/mnt/postgres'
const MOUNTED_ROOT = '/mnt/data'
// Its own mount namespace, which mounts both directories where any account may enter.
const MOUNT_SCRIPT = `set -e
mount -t tmpfs -o mode=0755 tmpfs /mnt
mkdir ${MOUNTED_BINARIES} ${MOUNTED_ROOT}
mount --bind "$1" ${MOUNTED_BINARIES}
mount --bind "$2" ${MOUNTED_ROOT}
shift 2
exec "$@"`

export async function asDatabaseAccount(options: {
  account: Account | undefined
  binaries: string
  root: string
}): Promise<Launcher> {
  const { account, binaries, root } = options
  // SIGINT asks PostgreSQL for a fast shutdown.
  const switchUser = ['setpriv', '--pdeathsig', 'INT', '--no-new-privs']
  if (account) {
    switchUser.push(`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', '--inh-caps=-all')
  }
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C', TZ: 'UTC' }
  const isMounted = account !== undefined && !canReach(switchUser, [join(binaries, 'bin', 'postgres'), root])
  const wrap = isMounted
    ? ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', MOUNT_SCRIPT, 'sh', binaries, root]
    : []
  return {
    root,
    seenPath: (path) => (isMounted && path.startsWith(root) ? MOUNTED_ROOT + path.slice(root.length) : path),
    command(program, args) {
      const bin = join(isMounted ? MOUNTED_BINARIES : binaries, 'bin', program)
      const [command, ...rest] = [...wrap, ...switchUser, bin, ...args] as [string, ...string[]]
      return { command, args: rest, env }
    },
  }
}

function canReach(switchUser: string[], paths: string[]): boolean {
  const [command, ...args] = switchUser as [string, ...string[]]
  return paths.every((path) => {
    try {
      execFileSync(command, [...args, 'test', '-x', path], {
        stdio: 'ignore',
        env: { PATH: '/usr/bin:/bin' },
      })
      return true
    } catch {
      return false
    }
  })
}
