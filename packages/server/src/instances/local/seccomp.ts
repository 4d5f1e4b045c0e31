// The system call filter of an instance, as a classic BPF program. It allows what allowed-syscalls.ts lists, and judges
// four calls by their arguments. Chromium builds its own sandbox inside, with clone, chroot and seccomp, so these stay.
// Format: https://docs.kernel.org/userspace-api/seccomp_filter.html, struct seccomp_data.
import { allowedNumbers } from './allowed-syscalls.ts'
import { forbidden, inspected, unknown, type Architecture } from './syscalls.ts'

/** Offsets in struct seccomp_data. Arguments have 64 bits; both architectures are little-endian. */
const offsets = { number: 0, architecture: 4, lowHalfOfArgument: (index: number) => 16 + 8 * index }
const auditArchitecture = { x64: 0xc000003e, arm64: 0xc00000b7 }
/** Calls of the x32 ABI have the audit architecture of x64 and this bit. */
const X32_BIT = 0x40000000

const LOAD_WORD = 0x20
const AND = 0x54
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_AT_LEAST = 0x35
const JUMP_IF_ANY_BIT = 0x45
const RETURN = 0x06

const ALLOW = 0x7fff0000
const ERRNO = 0x00050000
const EPERM = ERRNO | 1
const ENOSYS = ERRNO | 38
const EAFNOSUPPORT = ERRNO | 97

const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const NETLINK_ROUTE = 0
const NETLINK_KOBJECT_UEVENT = 15
const SOCK_STREAM = 1
const SOCK_DGRAM = 2
/** The other bits are flags. */
const SOCKET_TYPE = 0xf
const IPPROTO_TCP = 6
const IPPROTO_UDP = 17

/** Both type into a terminal as if its user did. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
/** Make and change network devices: bridges, bonds, VLANs, tunnels. */
const DEVICE_REQUESTS = { first: 0x8980, last: 0x89ff }

const CLONE_NEWTIME = 0x80
const CLONE_NEWNS = 0x20000
const CLONE_NEWCGROUP = 0x2000000
const CLONE_NEWUTS = 0x4000000
const CLONE_NEWIPC = 0x8000000
const CLONE_NEWUSER = 0x10000000
const CLONE_NEWNET = 0x40000000
const NEVER_NEW = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

const load = (offset: number): Instruction => [LOAD_WORD, 0, 0, offset]
const answer = (value: number): Instruction => [RETURN, 0, 0, value]
/** Runs `then` if the loaded word equals `value`. Keep bodies short: a jump reaches 255 instructions. */
const when = (value: number, then: readonly Instruction[]): Instruction[] => [
  [JUMP_IF_EQUAL, 0, then.length, value],
  ...then,
]
const whenAnyBit = (bits: number, then: readonly Instruction[]): Instruction[] => [
  [JUMP_IF_ANY_BIT, 0, then.length, bits],
  ...then,
]
const whenWithin = ({ first, last }: Range, verdict: number): Instruction[] => [
  [JUMP_IF_AT_LEAST, 0, 2, first],
  [JUMP_IF_AT_LEAST, 1, 0, last + 1],
  answer(verdict),
]

interface Range {
  readonly first: number
  readonly last: number
}

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
    ...when(inspected.clone[architecture], cloneRules()),
    ...when(inspected.unshare[architecture], unshareRules()),
    ...rangesOf(allowedNumbers(architecture)).flatMap((range) => whenWithin(range, ALLOW)),
    ...refuse(unknown, ENOSYS),
    ...refuse(forbidden, EPERM),
    // As on a kernel that does not have the call: libraries then use another.
    answer(ENOSYS),
  ])
}

/**
 * A network namespace does not block vsock and others, so the allowed families are listed. No raw sockets, and no
 * netlink that could make devices: both work for whoever is root of a network namespace of its own. For NETLINK_ROUTE
 * the answer is that of a kernel without it: programs that list interfaces find none, or say so.
 */
function socketRules(): Instruction[] {
  const internet = [
    load(offsets.lowHalfOfArgument(1)),
    [AND, 0, 0, SOCKET_TYPE] as Instruction,
    // Skips the answer for either of the two.
    [JUMP_IF_EQUAL, 2, 0, SOCK_STREAM] as Instruction,
    [JUMP_IF_EQUAL, 1, 0, SOCK_DGRAM] as Instruction,
    answer(EPERM),
    load(offsets.lowHalfOfArgument(2)),
    ...[0, IPPROTO_TCP, IPPROTO_UDP].flatMap((protocol) => when(protocol, [answer(ALLOW)])),
    answer(EPERM),
  ]
  return [
    load(offsets.lowHalfOfArgument(0)),
    ...when(AF_UNIX, [answer(ALLOW)]),
    ...when(AF_INET, internet),
    ...when(AF_INET6, internet),
    ...when(AF_NETLINK, [
      load(offsets.lowHalfOfArgument(2)),
      ...when(NETLINK_KOBJECT_UEVENT, [answer(ALLOW)]),
      ...when(NETLINK_ROUTE, [answer(EAFNOSUPPORT)]),
      answer(EPERM),
    ]),
    answer(EPERM),
  ]
}

function ioctlRules(): Instruction[] {
  return [
    // The kernel reads only the low half, so comparing the high half would allow a bypass.
    load(offsets.lowHalfOfArgument(1)),
    ...[TIOCSTI, TIOCLINUX].flatMap((request) => when(request, [answer(EPERM)])),
    ...whenWithin(DEVICE_REQUESTS, EPERM),
    answer(ALLOW),
  ]
}

/** Chromium's sandbox makes a user, a pid and a network namespace in one call. */
function cloneRules(): Instruction[] {
  return [
    load(offsets.lowHalfOfArgument(0)),
    ...whenAnyBit(NEVER_NEW, [answer(EPERM)]),
    ...whenAnyBit(CLONE_NEWNET, [...whenAnyBit(CLONE_NEWUSER, [answer(ALLOW)]), answer(EPERM)]),
    answer(ALLOW),
  ]
}

/** User and pid namespaces, for as_root and for apps. */
function unshareRules(): Instruction[] {
  return [
    load(offsets.lowHalfOfArgument(0)),
    ...whenAnyBit(NEVER_NEW | CLONE_NEWNET | CLONE_NEWTIME, [answer(EPERM)]),
    answer(ALLOW),
  ]
}

function rangesOf(numbers: readonly number[]): Range[] {
  const ranges: Range[] = []
  for (const number of numbers.toSorted((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last && number === last.last + 1) ranges[ranges.length - 1] = { ...last, last: number }
    else ranges.push({ first: number, last: number })
  }
  return ranges
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
