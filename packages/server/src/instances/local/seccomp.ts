// The system call filter of an instance, as a classic BPF program. It allows everything that it does not
// refuse: Chromium builds its own sandbox inside, with clone, unshare, chroot and seccomp.
// Format: https://docs.kernel.org/userspace-api/seccomp_filter.html, struct seccomp_data.
import { forbidden, inspected, unknown, type Architecture } from './syscalls.ts'

/** Offsets in struct seccomp_data. Arguments have 64 bits; both architectures are little-endian. */
const offsets = { number: 0, architecture: 4, lowHalfOfArgument: (index: number) => 16 + 8 * index }
const auditArchitecture = { x64: 0xc000003e, arm64: 0xc00000b7 }
/** Calls of the x32 ABI have the audit architecture of x64 and this bit. */
const X32_BIT = 0x40000000

const LOAD_WORD = 0x20
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_ANY_BIT = 0x45
const RETURN = 0x06

const ALLOW = 0x7fff0000
const ERRNO = 0x00050000
const EPERM = ERRNO | 1
const ENOSYS = ERRNO | 38

const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const NETLINK_ROUTE = 0
const NETLINK_KOBJECT_UEVENT = 15
/** Both type into a terminal as if its user did. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

const load = (offset: number): Instruction => [LOAD_WORD, 0, 0, offset]
const answer = (value: number): Instruction => [RETURN, 0, 0, value]
/** Runs `then` if the loaded word equals `value`. Keep bodies short: a jump reaches 255 instructions. */
const when = (value: number, then: readonly Instruction[]): Instruction[] => [
  [JUMP_IF_EQUAL, 0, then.length, value],
  ...then,
]

export function isSupported(architecture: string): architecture is Architecture {
  return architecture === 'x64' || architecture === 'arm64'
}

export function seccompProgram(architecture: Architecture): Buffer {
  const refuse = (table: typeof forbidden, verdict: number) =>
    Object.values(table).flatMap((numbers) => {
      const number = numbers[architecture]
      return number === null ? [] : when(number, [answer(verdict)])
    })
  return assemble([
    load(offsets.architecture),
    // A number means another call on another architecture, and the kernel may support several.
    [JUMP_IF_EQUAL, 1, 0, auditArchitecture[architecture]],
    answer(ENOSYS),
    load(offsets.number),
    [JUMP_IF_ANY_BIT, 0, 1, X32_BIT],
    answer(ENOSYS),
    ...when(inspected.socket[architecture], socketRules()),
    ...when(inspected.ioctl[architecture], ioctlRules()),
    ...refuse(unknown, ENOSYS),
    ...refuse(forbidden, EPERM),
    answer(ALLOW),
  ])
}

/** A network namespace does not block vsock and others, so the allowed families are listed. */
function socketRules(): Instruction[] {
  return [
    load(offsets.lowHalfOfArgument(0)),
    ...[AF_UNIX, AF_INET, AF_INET6].flatMap((family) => when(family, [answer(ALLOW)])),
    [JUMP_IF_EQUAL, 1, 0, AF_NETLINK],
    answer(EPERM),
    load(offsets.lowHalfOfArgument(2)),
    ...[NETLINK_ROUTE, NETLINK_KOBJECT_UEVENT].flatMap((protocol) => when(protocol, [answer(ALLOW)])),
    answer(EPERM),
  ]
}

function ioctlRules(): Instruction[] {
  return [
    // The kernel reads only the low half, so comparing the high half would allow a bypass.
    load(offsets.lowHalfOfArgument(1)),
    ...[TIOCSTI, TIOCLINUX].flatMap((request) => when(request, [answer(EPERM)])),
    answer(ALLOW),
  ]
}

/** struct sock_filter: u16 code, u8 jt, u8 jf, u32 k. */
function assemble(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * 8)
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    const at = index * 8
    program.writeUInt16LE(code, at)
    program.writeUInt8(ifTrue, at + 2)
    program.writeUInt8(ifFalse, at + 3)
    program.writeUInt32LE(value >>> 0, at + 4)
  }
  return program
}
