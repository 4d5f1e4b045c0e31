// Receives a descriptor over a unix socket. Node receives none but those of its own kinds.
import { descriptorIn, emptyMessage } from '@berth/kit/passed-descriptor'
import type { NativeCalls } from '../user/native-calls.ts'

/** MSG_CMSG_CLOEXEC: no program may inherit it. */
const CLOSE_ON_EXEC = 0x4000_0000

/** Waits in a thread of Node's pool. Rejects when the other side ends without sending one. */
export function receiveDescriptor(socket: number, { recvmsg }: NativeCalls): Promise<number> {
  const message = emptyMessage()
  return new Promise((resolve, reject) => {
    recvmsg.async(socket, message, CLOSE_ON_EXEC, (error) => {
      const descriptor = error ? undefined : descriptorIn(message)
      if (descriptor === undefined) {
        reject(error ?? new Error('Cannot receive the descriptor: nobody sent it'))
      } else resolve(descriptor)
    })
  })
}
