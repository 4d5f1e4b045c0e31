// System calls that Node does not offer. A native library makes them.
import type { MessageHeader } from '@berth/kit/passed-descriptor'

export interface NativeCalls {
  readonly prctl: (option: number, value: number, third: number, fourth: number, fifth: number) => number
  readonly capset: (header: Buffer, data: Buffer) => number
  readonly setfsuid: (uid: number) => number
  readonly setfsgid: (gid: number) => number
  readonly recvmsg: {
    async(
      socket: number,
      message: MessageHeader,
      flags: number,
      callback: (error: Error | null, length: number) => void,
    ): void
  }
  readonly sendmsg: (socket: number, message: MessageHeader, flags: number) => number
  readonly socket: (domain: number, type: number, protocol: number) => number
  readonly bind: (socket: number, address: Buffer, length: number) => number
  readonly listen: (socket: number, backlog: number) => number
  readonly fcntl: (descriptor: number, command: number, value: number) => number
  readonly close: (descriptor: number) => number
}

/** The little of it that is used here. */
interface Koffi {
  struct(name: string, fields: Readonly<Record<string, string>>): unknown
  load(library: string): { func(prototype: string): never }
}

/** `path` is that of koffi's native file. */
export function loadNativeCalls(path: string): NativeCalls {
  const module = { exports: {} as Koffi }
  process.dlopen(module, path)
  const koffi = module.exports
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
    prctl: libc.func('int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)'),
    capset: libc.func('int capset(void *, void *)'),
    setfsuid: libc.func('int setfsuid(int)'),
    setfsgid: libc.func('int setfsgid(int)'),
    recvmsg: libc.func('long recvmsg(int, msghdr *, int)'),
    sendmsg: libc.func('long sendmsg(int, msghdr *, int)'),
    socket: libc.func('int socket(int, int, int)'),
    bind: libc.func('int bind(int, void *, uint32_t)'),
    listen: libc.func('int listen(int, int)'),
    fcntl: libc.func('int fcntl(int, int, int)'),
    close: libc.func('int close(int)'),
  }
}
