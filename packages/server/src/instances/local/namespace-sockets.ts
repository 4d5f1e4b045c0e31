// Connections to an instance's loopback, opened by the server itself. A socket stays in the network
// namespace in which it was created, so the server enters the instance's namespace to create one. No
// process inside has to copy the bytes then, which halves the cost of a round trip.
//
// All of it is synchronous: the namespace belongs to the thread, and nothing else runs on this thread
// until it is back. Other threads are not affected.
import { closeSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'

const CLONE_NEWNET = 0x40000000
const AF_INET = 2
const SOCK_STREAM = 1
/** From asm-generic, the same on x64 and arm64. */
const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000
const OWN_NAMESPACE = '/proc/thread-self/ns/net'

interface SystemCalls {
  readonly setns: (namespace: number, type: number) => number
  readonly socket: (domain: number, type: number, protocol: number) => number
  readonly connect: (socket: number, address: Buffer, length: number) => number
  readonly close: (descriptor: number) => number
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
      const calls = loadSystemCalls()
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
    const first = listProcesses().find(isFirstOfInstance)
    if (first === undefined) return undefined
    const path = `/proc/${first}/ns/net`
    try {
      const namespace = openSync(path, 'r')
      // Checked again after opening: the pid may have been reused in between.
      const isIts = listProcesses().includes(first) && isFirstOfInstance(first)
      if (isIts && readlinkSync(path) !== readlinkSync(OWN_NAMESPACE)) return namespace
      closeSync(namespace)
    } catch {
      // The process has just ended.
    }
    return undefined
  }

  /** Undefined when nobody listens there or accepts at once. */
  connect(namespace: number, port: number): Socket | undefined {
    const { setns, socket, connect, close } = this.#calls
    if (setns(namespace, CLONE_NEWNET) !== 0) return undefined
    let descriptor: number
    try {
      descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
      // On loopback, the connection is open or refused when the call returns, whatever it returns.
      if (descriptor !== -1) connect(descriptor, loopbackAddress(port), ADDRESS_BYTES)
    } finally {
      // A server must never continue inside a tenant's network.
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

/** A struct sockaddr_in for 127.0.0.1. */
function loopbackAddress(port: number): Buffer {
  const address = Buffer.alloc(ADDRESS_BYTES)
  address.writeUInt16LE(AF_INET, 0)
  address.writeUInt16BE(port, 2)
  address.set([127, 0, 0, 1], 4)
  return address
}

// Loaded on first use, so that a server without instances starts without it.
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
