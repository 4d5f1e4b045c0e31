// How a descriptor passes over a unix socket: struct msghdr of sendmsg and recvmsg, with a struct cmsghdr and one int.
const SOL_SOCKET = 1
const SCM_RIGHTS = 1
/** Without padding. The kernel gives as many descriptors as there is room for, and nobody would close a second one. */
const LENGTH = 20
const PADDED = 24

/** struct msghdr, as its members. */
export interface MessageHeader {
  readonly name: null
  readonly namelen: number
  readonly iov: readonly { readonly base: Buffer; readonly len: number }[]
  readonly iovlen: number
  readonly control: Buffer
  readonly controllen: number
  readonly flags: number
}

/** Its one byte is of no meaning; a descriptor needs company. */
export function messageWith(descriptor: number): MessageHeader {
  const control = Buffer.alloc(PADDED)
  control.writeBigUInt64LE(BigInt(LENGTH), 0)
  control.writeInt32LE(SOL_SOCKET, 8)
  control.writeInt32LE(SCM_RIGHTS, 12)
  control.writeInt32LE(descriptor, 16)
  return messageOf(control, '!')
}

/** To receive into. */
export function emptyMessage(): MessageHeader {
  return messageOf(Buffer.alloc(LENGTH), '\0')
}

/** Undefined where none came. */
export function descriptorIn({ control }: MessageHeader): number | undefined {
  const isDescriptor =
    control.readBigUInt64LE(0) === BigInt(LENGTH) &&
    control.readInt32LE(8) === SOL_SOCKET &&
    control.readInt32LE(12) === SCM_RIGHTS
  return isDescriptor ? control.readInt32LE(16) : undefined
}

function messageOf(control: Buffer, byte: string): MessageHeader {
  const base = Buffer.from(byte)
  const iov = [{ base, len: base.length }]
  return { name: null, namelen: 0, iov, iovlen: 1, control, controllen: control.length, flags: 0 }
}
