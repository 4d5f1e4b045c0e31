// Receives a descriptor over a unix socket. Node receives none but those of its own kinds.
import type { NativeCalls } from '../user/native-calls.ts'

/** struct cmsghdr with one descriptor, padded to 8 bytes: its length, SOL_SOCKET, SCM_RIGHTS, and the descriptor. */
const CONTROL_BYTES = 24
const DESCRIPTOR_AT = 16
/** MSG_CMSG_CLOEXEC: no program may inherit it. */
const CLOSE_ON_EXEC = 0x4000_0000

/** Waits in a thread of Node's pool. Rejects when the other side ends without sending one. */
export function receiveDescriptor(socket: number, { recvmsg }: NativeCalls): Promise<number> {
  const control = Buffer.alloc(CONTROL_BYTES)
  const message = {
    name: null,
    namelen: 0,
    iov: [{ base: Buffer.alloc(1), len: 1 }],
    iovlen: 1,
    control,
    controllen: CONTROL_BYTES,
    flags: 0,
  }
  return new Promise((resolve, reject) => {
    recvmsg.async(socket, message, CLOSE_ON_EXEC, (error, length) => {
      if (error || length !== 1) reject(error ?? new Error('Cannot receive the descriptor: nobody sent it'))
      else resolve(control.readInt32LE(DESCRIPTOR_AT))
    })
  })
}
