// Files that are the same for every instance: users and groups, and the system call filter. Each server
// start writes them; a running instance keeps the version that it has bound.
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { instancePaths } from '@berth/contracts/link'
import { NVIDIA_DRIVER_FILE, nvidiaDriver } from './gpu/gpu-arguments.ts'
import { makePassable } from './instance-directory.ts'
import { APP_UID_INSIDE, INSIDE_UID, INSIDE_USER } from './ids-inside.ts'
import { networkRules } from './network-rules.ts'
import { isSupported, seccompProgram } from './seccomp.ts'

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
  'nsswitch.conf': ['passwd: files', 'group: files', 'hosts: files dns'],
  // The agent's name server, if the instance has a network. It asks ours, which takes 10 seconds at most.
  'resolv.conf': ['nameserver 127.0.0.1', 'options timeout:12 attempts:1'],
}

/** Paths of files with rules; see network-rules.ts. */
export interface RuleFiles {
  readonly ipv4: string
  readonly ipv6: string
}

export class SharedFiles {
  readonly path: string
  /** File names that belong in /etc. */
  readonly etc: readonly string[] = Object.keys(files)
  readonly seccomp: string
  readonly rules: { readonly ordinary: RuleFiles; readonly hostLoopback: RuleFiles }

  private constructor(path: string) {
    this.path = path
    this.seccomp = join(path, 'seccomp')
    const rules = (name: string): RuleFiles => ({
      ipv4: join(path, `${name}.4`),
      ipv6: join(path, `${name}.6`),
    })
    this.rules = { ordinary: rules('rules'), hostLoopback: rules('rules-host-loopback') }
  }

  static write(instancesDir: string): SharedFiles {
    const shared = new SharedFiles(join(instancesDir, '.shared'))
    mkdirSync(shared.path, { recursive: true })
    makePassable(shared.path)
    for (const [name, lines] of Object.entries(files))
      replace(join(shared.path, name), `${lines.join('\n')}\n`)
    for (const family of ['ipv4', 'ipv6'] as const) {
      replace(shared.rules.ordinary[family], networkRules({ family, hostLoopback: false }))
      replace(shared.rules.hostLoopback[family], networkRules({ family, hostLoopback: true }))
    }
    replace(join(shared.path, NVIDIA_DRIVER_FILE), nvidiaDriver)
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
