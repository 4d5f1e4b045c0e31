// Makes the network of an instance: from its loopback, with routes and rules for packets. Only root can, and not every
// kernel has what it takes, so it is tried out first.
import { readFileSync } from 'node:fs'
import { instancePorts } from '@berth/contracts/link'
import { run } from '@berth/kit/child-process'
import { isInImage } from '@berth/kit/in-image'
import { findProgram, type Programs } from './programs.ts'
import type { RuleFiles } from './shared-files.ts'

// Arguments: ip, then a program that reads rules and its file, for IPv4 and, where the machine has it, for IPv6. A
// connection that nobody answers fails after half a minute. The agent is the name server, and has no right to low ports.
const MAKE_SCRIPT = `"$1" route add local 0.0.0.0/0 dev lo && "$2" --wait=5 "$3" || exit 1
if [ -e /proc/net/if_inet6 ]; then
  "$1" -6 route add local ::/0 dev lo && "$4" --wait=5 "$5" || exit 1
fi
echo ${instancePorts.names} > /proc/sys/net/ipv4/ip_unprivileged_port_start || exit 1
echo 4 > /proc/sys/net/ipv4/tcp_syn_retries || true`
const TRY_SCRIPT = `"$1" link set lo up && ${MAKE_SCRIPT}`

/** The older one takes a quarter of the time of the newer one, and fewer kernels have it. */
const RULE_READERS = [
  ['iptables-legacy-restore', 'ip6tables-legacy-restore'],
  ['iptables-nft-restore', 'ip6tables-nft-restore'],
  ['iptables-restore', 'ip6tables-restore'],
] as const

/** See capabilities(7). */
const CAP_SYS_PTRACE = 1n << 19n

interface Commands {
  readonly nsenter: string
  readonly ip: string
  readonly readers: readonly [ipv4: string, ipv6: string]
}

export interface NetworkMakerOptions {
  readonly programs: Programs
  readonly rules: RuleFiles
}

export class NetworkMaker {
  readonly #programs: Programs
  readonly #commands: Commands

  private constructor(programs: Programs, commands: Commands) {
    this.#programs = programs
    this.#commands = commands
  }

  /** Undefined, with the reason, where networks cannot be made. */
  static async find({
    programs,
    rules,
  }: NetworkMakerOptions): Promise<{ maker?: NetworkMaker; reason?: string }> {
    if (!mayReadNamespaces(readFileSync('/proc/self/status', 'utf8'))) {
      return {
        reason: 'the server may not read the namespaces of instances: it lacks the capability SYS_PTRACE',
      }
    }
    const nsenter = findProgram('nsenter')
    const ip = findProgram('ip')
    const found = RULE_READERS.flatMap(([ipv4, ipv6]) => {
      const readers = [findProgram(ipv4), findProgram(ipv6)] as const
      return areBoth(readers) ? [readers] : []
    })
    if (!nsenter || !ip || found.length === 0) {
      return {
        reason: 'nsenter, ip or iptables is missing: run apt-get install util-linux iproute2 iptables',
      }
    }
    let reason = ''
    for (const readers of found) {
      const args = ['--net', programs.sh, '-c', TRY_SCRIPT, 'sh', ip, ...withFiles(readers, rules)]
      try {
        await run({ command: programs.unshare, args, env: {} })
        return { maker: new NetworkMaker(programs, { nsenter, ip, readers }) }
      } catch (error) {
        reason = (error as Error).message
      }
    }
    const lacking = isInImage ? 'the container lacks NET_ADMIN, or the kernel lacks' : 'the kernel lacks'
    return { reason: `${lacking} what iptables needs (${reason.trim()})` }
  }

  /** `user` and `network` are descriptors of the instance's namespaces. Its loopback is up. */
  async make({ user, network, rules }: { user: number; network: number; rules: RuleFiles }): Promise<void> {
    const { nsenter, ip, readers } = this.#commands
    // The kernel takes rules about users only from the user namespace that the network belongs to.
    const enter = [`--user=${pathOf(user)}`, `--net=${pathOf(network)}`]
    const args = [...enter, this.#programs.sh, '-c', MAKE_SCRIPT, 'sh', ip, ...withFiles(readers, rules)]
    // A lock of this network's own: instances that start together need not wait for each other.
    await run({ command: nsenter, args, env: { XTABLES_LOCKFILE: '/proc/self/ns/net' } })
  }
}

/** Of processes with another uid. Root in a container may lack this right. */
export function mayReadNamespaces(status: string): boolean {
  const [, effective = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? []
  return (BigInt(`0x${effective}`) & CAP_SYS_PTRACE) !== 0n
}

function pathOf(descriptor: number): string {
  return `/proc/${process.pid}/fd/${descriptor}`
}

function withFiles([ipv4, ipv6]: Commands['readers'], rules: RuleFiles): string[] {
  return [ipv4, rules.ipv4, ipv6, rules.ipv6]
}

function areBoth(found: readonly [string | undefined, string | undefined]): found is Commands['readers'] {
  return found.every((path) => path !== undefined)
}
