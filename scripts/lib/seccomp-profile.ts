// The system calls that a container may make which has sandboxes of ours inside, in the format that Docker and the kubelet
// read. It allows what instances may do, and what making their sandboxes takes. Inside, each sandbox has a stricter filter.
import { allowedNames } from '@berth/server/instances/local/allowed-syscalls'
import { inspected, unknown } from '@berth/server/instances/local/syscalls'

/** The second is where the chart can read it. */
export const SECCOMP_PROFILES = [
  'deploy/seccomp/berth-instance.json',
  'deploy/helm/berth/files/berth-instance.json',
]

/** Namespaces, and what is mounted in them. The kernel allows them only within a user namespace, or to root. */
const forSandboxes = ['mount', 'umount2', 'pivot_root', 'setns', 'sethostname']
/** Unix, IPv4, IPv6, netlink. */
const FAMILIES = [1, 2, 10, 16]
const ENOSYS = 38

export function seccompProfile(): string {
  const judged = ['socket']
  const names = [...allowedNames, ...Object.keys(inspected), ...Object.keys(unknown), ...forSandboxes]
  const profile = {
    defaultAction: 'SCMP_ACT_ERRNO',
    // As on a kernel that does not have the call: libraries then use another.
    defaultErrnoRet: ENOSYS,
    archMap: [
      { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
      { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
    ],
    syscalls: [
      {
        names: [...new Set(names)].filter((name) => !judged.includes(name)).toSorted(),
        action: 'SCMP_ACT_ALLOW',
      },
      ...FAMILIES.map((value) => ({
        names: judged,
        action: 'SCMP_ACT_ALLOW',
        args: [{ index: 0, value, op: 'SCMP_CMP_EQ' }],
      })),
    ],
  }
  return `${JSON.stringify(profile, null, 2)}\n`
}
