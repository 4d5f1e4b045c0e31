import type { Server, Socket } from 'node:net'

/** The file descriptor of an open socket, for which Node has no public name. Undefined when it is closed. */
export function descriptorOf(socket: Server | Socket): number | undefined {
  // SAFETY: every socket of Node has it, and it may be gone.
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } | null }
  const fd = handle?.fd
  return fd === undefined || fd < 0 ? undefined : fd
}
