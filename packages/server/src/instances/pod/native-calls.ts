// System calls of the link that Node does not offer. A native library makes them.
import { createRequire } from 'node:module'
import { descriptorIn, emptyMessage, type MessageHeader } from '@berth/kit/passed-descriptor'

/** MSG_DONTWAIT: the tenant may never send one. MSG_CMSG_CLOEXEC: no program may inherit it. */
const AT_ONCE = 0x40
const CLOSE_ON_EXEC = 0x4000_0000
const SIGALRM = 14

interface SystemCalls {
  readonly recvmsg: (socket: number, message: MessageHeader, flags: number) => number
  readonly alarm: (seconds: number) => number
}

export class NativeCalls {
  readonly #calls: SystemCalls

  private constructor(calls: SystemCalls) {
    this.#calls = calls
  }

  /** Undefined when koffi has no build for this system. */
  static load(): NativeCalls | undefined {
    try {
      return new NativeCalls(load())
    } catch {
      return undefined
    }
  }

  /** One that has arrived on a unix socket. */
  receiveDescriptor(socket: number): number | undefined {
    const message = emptyMessage()
    if (this.#calls.recvmsg(socket, message, AT_ONCE | CLOSE_ON_EXEC) < 0) return undefined
    return descriptorIn(message)
  }

  /** The kernel ends this process after so long, unless this is called again before. */
  endUnlessCalledWithin(seconds: number): void {
    this.#calls.alarm(seconds)
  }
}

function load(): SystemCalls {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
  const libc = koffi.load('libc.so.6')
  // The first process of a container is spared by signals for which it has no handler. This one ends it.
  const signal = libc.func('signal', 'void *', ['int', 'void *'])
  signal(SIGALRM, libc.symbol('_exit', 'int'))
  const piece = koffi.struct({ base: 'void *', len: 'size_t' })
  const header = koffi.struct({
    name: 'void *',
    namelen: 'uint32_t',
    iov: koffi.pointer(piece),
    iovlen: 'size_t',
    control: 'void *',
    controllen: 'size_t',
    flags: 'int',
  })
  return {
    recvmsg: libc.func('recvmsg', 'long', ['int', koffi.pointer(header), 'int']) as SystemCalls['recvmsg'],
    alarm: libc.func('alarm', 'uint', ['uint']) as SystemCalls['alarm'],
  }
}
