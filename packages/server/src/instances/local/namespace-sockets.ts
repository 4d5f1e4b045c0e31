// Connections to the loopback of an instance, made by the server itself. A socket belongs for ever to the
// network namespace its maker was in, so the server steps into the instance's for the moment it takes to
// make one. The bytes then need nobody inside to carry them, which halves what a round trip costs.
//
// All of it is synchronous: the namespace is a property of the thread, and nothing else runs on this one
// until it is back. Other threads are not concerned.
import { closeSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'

const CLONE_NEWNET = 0x40000000
const AF_INET = 2
const SOCK_STREAM = 1
/** Of asm-generic, as on x64 and arm64. */
const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000
const OWN_NAMESPACE = '/proc/thread-self/ns/net'

interface SystemCalls {
  readonly setns: (namespace: number, type: number) => number
  readonly socket: (domain: number, type: number, protocol: number) => number
  readonly connect: (socket: number, address: Buffer, length: number) => number
  readonly close: (descriptor: number) => number
}

/** Undefined where the server may not do it; there the agent carries the bytes. */
export class NamespaceSockets {
  readonly #calls: SystemCalls
  readonly #own: number

  private constructor(calls: SystemCalls, own: number) {
    this.#calls = calls
    this.#own = own
  }

  static open(): NamespaceSockets | undefined {
    try {
      const calls = loadSystemCalls()
      const own = openSync(OWN_NAMESPACE, 'r')
      // To where we are already: refused to who may not do it at all.
      if (calls.setns(own, CLONE_NEWNET) === 0) return new NamespaceSockets(calls, own)
      closeSync(own)
    } catch {
      // No such library for this system.
    }
    return undefined
  }

  close(): void {
    closeSync(this.#own)
  }

  /**
   * The network namespace of one instance, by the processes in its control group. Undefined when it is
   * not known beyond doubt: the one of another instance or of the host must never be taken for it.
   */
  find(listProcesses: () => readonly number[]): number | undefined {
    const first = listProcesses().find(isFirstOfInstance)
    if (first === undefined) return undefined
    const path = `/proc/${first}/ns/net`
    try {
      const namespace = openSync(path, 'r')
      // Opened and then looked at again: the number may have passed to somebody else in between.
      const isIts = listProcesses().includes(first) && isFirstOfInstance(first)
      if (isIts && readlinkSync(path) !== readlinkSync(OWN_NAMESPACE)) return namespace
      closeSync(namespace)
    } catch {
      // It has just ended.
    }
    return undefined
  }

  /** Undefined when nobody listens there, or does not take it at once. */
  connect(namespace: number, port: number): Socket | undefined {
    const { setns, socket, connect, close } = this.#calls
    if (setns(namespace, CLONE_NEWNET) !== 0) return undefined
    let descriptor: number
    try {
      descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
      // On a loopback it is through, or refused, when the call returns; whatever the call says.
      if (descriptor !== -1) connect(descriptor, loopbackAddress(port), ADDRESS_BYTES)
    } finally {
      // A server that is left in the network of a tenant must not go on.
      if (setns(this.#own, CLONE_NEWNET) !== 0) process.abort()
    }
    if (descriptor === -1) return undefined
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

/** A struct sockaddr_in of 127.0.0.1. */
function loopbackAddress(port: number): Buffer {
  const address = Buffer.alloc(ADDRESS_BYTES)
  address.writeUInt16LE(AF_INET, 0)
  address.writeUInt16BE(port, 2)
  address.set([127, 0, 0, 1], 4)
  return address
}

// Not imported at the top: a server without instances starts without it.
function loadSystemCalls(): SystemCalls {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  const libc = koffi.load('libc.so.6')
  return {
    setns: libc.func('int setns(int, int)') as SystemCalls['setns'],
    socket: libc.func('int socket(int, int, int)') as SystemCalls['socket'],
    connect: libc.func('int connect(int, const uint8_t *, uint32_t)') as SystemCalls['connect'],
    close: libc.func('int close(int)') as SystemCalls['close'],
  }
}
