// Files that are the same for every instance: users and groups, and the system call filter. Each server
// start writes them; a running instance keeps the version that it has bound.
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { instancePaths } from '@berth/contracts/link'
import { makePassable } from './instance-directory.ts'
import { isSupported, seccompProgram } from './seccomp.ts'

/** The uid inside. Chromium refuses to run as root. */
export const INSIDE_UID = 1000
export const INSIDE_USER = 'kernel'
/** Invocations of an app run as this one, which owns none of the app's files. */
export const APP_UID_INSIDE = 1001
export const uidsInside = { user: INSIDE_UID, app: APP_UID_INSIDE } as const
export const INSIDE_HOSTNAME = 'browser'

const files = {
  passwd: [
    'root:x:0:0:root:/nonexistent:/usr/sbin/nologin',
    `${INSIDE_USER}:x:${INSIDE_UID}:${INSIDE_UID}::${instancePaths.home}:/bin/sh`,
    `app:x:${APP_UID_INSIDE}:${APP_UID_INSIDE}::${instancePaths.appHome}:/bin/sh`,
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
  ],
  group: ['root:x:0:', `${INSIDE_USER}:x:${INSIDE_UID}:`, `app:x:${APP_UID_INSIDE}:`, 'nogroup:x:65534:'],
  hosts: ['127.0.0.1 localhost', '::1 localhost', `127.0.1.1 ${INSIDE_HOSTNAME}`],
  'nsswitch.conf': ['passwd: files', 'group: files', 'hosts: files'],
}

export class SharedFiles {
  readonly path: string
  /** File names that belong in /etc. */
  readonly etc: readonly string[] = Object.keys(files)
  readonly seccomp: string

  private constructor(path: string) {
    this.path = path
    this.seccomp = join(path, 'seccomp')
  }

  static write(instancesDir: string): SharedFiles {
    const shared = new SharedFiles(join(instancesDir, '.shared'))
    mkdirSync(shared.path, { recursive: true })
    makePassable(shared.path)
    for (const [name, lines] of Object.entries(files))
      replace(join(shared.path, name), `${lines.join('\n')}\n`)
    if (isSupported(process.arch)) replace(shared.seccomp, seccompProgram(process.arch))
    return shared
  }
}

/** Writes a new file and renames it, so that a file bound into an instance never changes. */
function replace(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content)
  chmodSync(`${path}.new`, 0o644)
  renameSync(`${path}.new`, path)
}
