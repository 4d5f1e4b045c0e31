// Connections to an instance's loopback, opened by the server itself. A socket stays in the network
// namespace in which it was created, so the server enters the instance's namespace to create one. No
// process inside has to copy the bytes then, which halves the cost of a round trip.
//
// All of it is synchronous: the namespace belongs to the thread, and nothing else runs on this thread
// until it is back. Other threads are not affected.
import { closeSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { messageWith } from '@berth/kit/passed-descriptor'
import { bindQueue, NETLINK_NETFILTER } from '@berth/codecs/netlink/packet-queue'

const CLONE_NEWNET = 0x40000000
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const SOCK_STREAM = 1
const SOCK_RAW = 3
const SOL_SOCKET = 1
const SO_REUSEADDR = 2
/** An int. */
const TRUE = Buffer.from([1, 0, 0, 0])
/** From asm-generic, the same on x64 and arm64. */
const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000
const OWN_NAMESPACE = '/proc/thread-self/ns/net'

interface SystemCalls {
  readonly setns: (namespace: number, type: number) => number
  readonly socket: (domain: number, type: number, protocol: number) => number
  readonly connect: (socket: number, address: Buffer, length: number) => number
  readonly close: (descriptor: number) => number
  readonly bind: (socket: number, address: Buffer, length: number) => number
  readonly listen: (socket: number, queue: number) => number
  readonly setsockopt: (socket: number, level: number, name: number, value: Buffer, length: number) => number
  readonly send: (socket: number, bytes: Buffer, length: number, flags: number) => number
  readonly sendmsg: (socket: number, message: object, flags: number) => number
}

/** Of one instance, as descriptors. */
export interface Namespaces {
  readonly network: number
  readonly user: number
}

/** Undefined when the server may not do this; the agent then copies the bytes. */
export class NamespaceSockets {
  readonly #calls: SystemCalls
  readonly #own: number

  private constructor(calls: SystemCalls, own: number) {
    this.#calls = calls
    this.#own = own
  }

  static open(): NamespaceSockets | undefined {
    try {
      const calls = systemCalls()
      const own = openSync(OWN_NAMESPACE, 'r')
      // Enters the current namespace, as a test: it fails without the permission.
      if (calls.setns(own, CLONE_NEWNET) === 0) return new NamespaceSockets(calls, own)
      closeSync(own)
    } catch {
      // koffi has no build for this system.
    }
    return undefined
  }

  close(): void {
    closeSync(this.#own)
  }

  /**
   * Finds the network namespace of one instance through the processes in its control group. Undefined in
   * case of doubt: it must never return the namespace of another instance or of the host.
   */
  find(listProcesses: () => readonly number[]): number | undefined {
    const found = this.#find(listProcesses, ['net'])
    return found?.[0]
  }

  /** The same, with the user namespace. */
  findBoth(listProcesses: () => readonly number[]): Namespaces | undefined {
    const [network, user] = this.#find(listProcesses, ['net', 'user']) ?? []
    return network === undefined || user === undefined ? undefined : { network, user }
  }

  #find(listProcesses: () => readonly number[], kinds: readonly string[]): number[] | undefined {
    const first = listProcesses().find(isFirstOfInstance)
    if (first === undefined) return undefined
    const opened: number[] = []
    try {
      for (const kind of kinds) opened.push(openSync(`/proc/${first}/ns/${kind}`, 'r'))
      // Checked again after opening: the pid may have been reused in between.
      const isIts = listProcesses().includes(first) && isFirstOfInstance(first)
      if (isIts && readlinkSync(`/proc/${first}/ns/net`) !== readlinkSync(OWN_NAMESPACE)) return opened
    } catch {
      // The process has just ended.
    }
    for (const descriptor of opened) closeSync(descriptor)
    return undefined
  }

  /** Undefined when nobody listens there or accepts at once. */
  connect(namespace: number, port: number): Socket | undefined {
    const { socket, connect, close } = this.#calls
    const descriptor = this.#inside(namespace, () => {
      const made = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
      // On loopback, the connection is open or refused when the call returns, whatever it returns.
      if (made !== -1) connect(made, loopbackAddress(port), ADDRESS_BYTES)
      return made
    })
    if (descriptor === undefined || descriptor === -1) return undefined
    let opened: Socket
    try {
      opened = new Socket({ fd: descriptor, readable: true, writable: true })
    } catch {
      close(descriptor)
      return undefined
    }
    opened.on('error', () => {})
    if (opened.remotePort === port) return opened.setNoDelay(true)
    opened.destroy()
    return undefined
  }

  /** The descriptor of a socket that listens in the instance's network. */
  listen(namespace: number, port: number, queue: number): number {
    const { socket, setsockopt, bind, listen } = this.#calls
    return this.#make(namespace, 'listen in its network', () => {
      // For IPv4 too. A machine may have no IPv6.
      const dual = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
      const made = dual === -1 ? socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : dual
      const address = dual === -1 ? loopbackAddress(port) : anyAddress(port)
      // Connections of the server before may still be ending there.
      setsockopt(made, SOL_SOCKET, SO_REUSEADDR, TRUE, TRUE.length)
      const isDone = bind(made, address, address.length) === 0 && listen(made, queue) === 0
      return { made, isDone }
    })
  }

  /** The descriptor of the queue of packets that wait for a verdict. */
  openPacketQueue(namespace: number, queue: number): number {
    const { socket, send } = this.#calls
    return this.#make(namespace, 'open its queue of packets', () => {
      const made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER)
      const isDone = bindQueue(queue).every((bytes) => send(made, bytes, bytes.length, 0) === bytes.length)
      return { made, isDone }
    })
  }

  /** Over a unix socket, to another process. */
  sendDescriptor(socket: number, descriptor: number): void {
    if (this.#calls.sendmsg(socket, messageWith(descriptor), 0) !== 1)
      throw new Error('Cannot send the descriptor')
  }

  #make(namespace: number, what: string, make: () => { made: number; isDone: boolean }): number {
    const { made, isDone } = this.#inside(namespace, make) ?? { made: -1, isDone: false }
    if (made !== -1 && isDone) return made
    if (made !== -1) this.#calls.close(made)
    throw new Error(`Cannot ${what}: the system refuses it`)
  }

  /** Undefined when the namespace cannot be entered. */
  #inside<T>(namespace: number, act: () => T): T | undefined {
    const { setns } = this.#calls
    if (setns(namespace, CLONE_NEWNET) !== 0) return undefined
    try {
      return act()
    } finally {
      // A server must never continue inside a tenant's network.
      if (setns(this.#own, CLONE_NEWNET) !== 0) process.abort()
    }
  }
}

/** The first process of a pid namespace directly below ours; those of Chromium's sandbox are deeper. */
function isFirstOfInstance(pid: number): boolean {
  try {
    return /^NSpid:\t\d+\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const ADDRESS_BYTES = 16
const ADDRESS6_BYTES = 28

/** A struct sockaddr_in for 127.0.0.1. */
function loopbackAddress(port: number): Buffer {
  const address = Buffer.alloc(ADDRESS_BYTES)
  address.writeUInt16LE(AF_INET, 0)
  address.writeUInt16BE(port, 2)
  address.set([127, 0, 0, 1], 4)
  return address
}

/** A struct sockaddr_in6 for all addresses: nothing but the instance itself reaches any of them. */
function anyAddress(port: number): Buffer {
  const address = Buffer.alloc(ADDRESS6_BYTES)
  address.writeUInt16LE(AF_INET6, 0)
  address.writeUInt16BE(port, 2)
  return address
}

let loaded: SystemCalls | undefined

// Loaded on first use, so that a server without instances starts without it; once, because its types have names.
function systemCalls(): SystemCalls {
  loaded ??= loadSystemCalls()
  return loaded
}

function loadSystemCalls(): SystemCalls {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  koffi.struct('iovec', { base: 'void *', len: 'size_t' })
  koffi.struct('msghdr', {
    name: 'void *',
    namelen: 'uint32_t',
    iov: 'iovec *',
    iovlen: 'size_t',
    control: 'void *',
    controllen: 'size_t',
    flags: 'int',
  })
  const libc = koffi.load('libc.so.6')
  return {
    setns: libc.func('int setns(int, int)') as SystemCalls['setns'],
    socket: libc.func('int socket(int, int, int)') as SystemCalls['socket'],
    connect: libc.func('int connect(int, const uint8_t *, uint32_t)') as SystemCalls['connect'],
    close: libc.func('int close(int)') as SystemCalls['close'],
    bind: libc.func('int bind(int, const uint8_t *, uint32_t)') as SystemCalls['bind'],
    listen: libc.func('int listen(int, int)') as SystemCalls['listen'],
    setsockopt: libc.func(
      'int setsockopt(int, int, int, const uint8_t *, uint32_t)',
    ) as SystemCalls['setsockopt'],
    send: libc.func('long send(int, const uint8_t *, size_t, int)') as SystemCalls['send'],
    sendmsg: libc.func('long sendmsg(int, msghdr *, int)') as SystemCalls['sendmsg'],
  }
}
