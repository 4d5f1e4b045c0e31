// The kernel's queue of packets that wait for a verdict (NFQUEUE): messages of its netlink socket, in the machine's byte
// order except where noted. See linux/netfilter/nfnetlink_queue.h. No library for Node speaks it.

/** The protocol of the socket. */
export const NETLINK_NETFILTER = 12

const HEADER_BYTES = 16
const FAMILY_BYTES = 4
const ATTRIBUTE_BYTES = 4
const QUEUE_SUBSYSTEM = 3 << 8
const types = { packet: QUEUE_SUBSYSTEM, verdict: QUEUE_SUBSYSTEM | 1, config: QUEUE_SUBSYSTEM | 2 } as const
const flags = { request: 1, acknowledge: 4 } as const
const packetAttributes = { header: 1, payload: 10 } as const
const verdictAttributes = { verdict: 2, mark: 3 } as const
const configAttributes = { command: 1, parameters: 2 } as const
const BIND = 1
const COPY_PACKET = 2
/** Enough for the headers of IP and TCP. */
const COPY_BYTES = 128
const verdicts = { drop: 0, accept: 1 } as const
const TCP = 6

/** A TCP packet that waits. */
export interface QueuedPacket {
  readonly id: number
  readonly sourcePort: number
  /** In text; empty when it is not a TCP packet. */
  readonly address: string
  readonly port: number
}

/** Binds the socket to a queue, whose packets it receives from then on. */
export function bindQueue(queue: number): Buffer[] {
  // A command, and the protocol family, which is no longer used.
  const command = Buffer.from([BIND, 0, 0, 0])
  const parameters = Buffer.alloc(5)
  parameters.writeUInt32BE(COPY_BYTES, 0)
  parameters.writeUInt8(COPY_PACKET, 4)
  return [
    message(types.config, queue, [attribute(configAttributes.command, command)]),
    message(types.config, queue, [attribute(configAttributes.parameters, parameters)]),
  ]
}

/** Changes nothing, and is answered: so a read that waits for packets returns. */
export function askForAnswer(queue: number): Buffer {
  const bytes = message(types.verdict, queue, [])
  bytes.writeUInt16LE(flags.request | flags.acknowledge, 6)
  return bytes
}

export function acceptPacket(queue: number, id: number, mark?: number): Buffer {
  const attributes = [attribute(verdictAttributes.verdict, verdict(verdicts.accept, id))]
  if (mark !== undefined) attributes.push(attribute(verdictAttributes.mark, number(mark)))
  return message(types.verdict, queue, attributes)
}

export function dropPacket(queue: number, id: number): Buffer {
  return message(types.verdict, queue, [attribute(verdictAttributes.verdict, verdict(verdicts.drop, id))])
}

/** The packets in what one read returned. Anything else is left out. */
export function readPackets(bytes: Buffer): QueuedPacket[] {
  const packets: QueuedPacket[] = []
  for (let at = 0; at + HEADER_BYTES + FAMILY_BYTES <= bytes.length;) {
    const length = bytes.readUInt32LE(at)
    if (length < HEADER_BYTES + FAMILY_BYTES || at + length > bytes.length) break
    const isPacket = bytes.readUInt16LE(at + 4) === types.packet
    const packet = isPacket && readPacket(bytes.subarray(at + HEADER_BYTES + FAMILY_BYTES, at + length))
    if (packet) packets.push(packet)
    at += padded(length)
  }
  return packets
}

function readPacket(bytes: Buffer): QueuedPacket | undefined {
  let id: number | undefined
  let payload: Buffer | undefined
  for (let at = 0; at + ATTRIBUTE_BYTES <= bytes.length;) {
    const length = bytes.readUInt16LE(at)
    if (length < ATTRIBUTE_BYTES || at + length > bytes.length) break
    const value = bytes.subarray(at + ATTRIBUTE_BYTES, at + length)
    // The two highest bits are flags.
    const type = bytes.readUInt16LE(at + 2) & 0x3fff
    if (type === packetAttributes.header && value.length >= 4) id = value.readUInt32BE(0)
    else if (type === packetAttributes.payload) payload = value
    at += padded(length)
  }
  const segment = payload && readSegment(payload)
  return id === undefined ? undefined : { id, sourcePort: 0, address: '', port: 0, ...segment }
}

/** Addresses and ports of a TCP segment in an IP packet. */
function readSegment(packet: Buffer): Omit<QueuedPacket, 'id'> | undefined {
  const version = (packet[0] ?? 0) >> 4
  const start = version === 4 ? (packet[0]! & 0x0f) * 4 : 40
  if (packet.length < start + 4) return undefined
  const ports = { sourcePort: packet.readUInt16BE(start), port: packet.readUInt16BE(start + 2) }
  if (version === 4 && packet[9] === TCP) return { ...ports, address: packet.subarray(16, 20).join('.') }
  if (version === 6 && packet[6] === TCP) return { ...ports, address: textOfIpv6(packet.subarray(24, 40)) }
  return undefined
}

/** In full: every group, none left out. */
export function textOfIpv6(address: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => address.readUInt16BE(index * 2).toString(16))
  return groups.join(':')
}

function message(type: number, queue: number, attributes: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(HEADER_BYTES + FAMILY_BYTES)
  head.writeUInt32LE(head.length + attributes.reduce((sum, { length }) => sum + length, 0), 0)
  head.writeUInt16LE(type, 4)
  head.writeUInt16LE(flags.request, 6)
  // The number of the queue, in network order, after the family and the version, which are 0.
  head.writeUInt16BE(queue, HEADER_BYTES + 2)
  return Buffer.concat([head, ...attributes])
}

function attribute(type: number, value: Buffer): Buffer {
  const bytes = Buffer.alloc(padded(ATTRIBUTE_BYTES + value.length))
  bytes.writeUInt16LE(ATTRIBUTE_BYTES + value.length, 0)
  bytes.writeUInt16LE(type, 2)
  value.copy(bytes, ATTRIBUTE_BYTES)
  return bytes
}

function verdict(kind: number, id: number): Buffer {
  return Buffer.concat([number(kind), number(id)])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value, 0)
  return bytes
}

const padded = (length: number): number => (length + 3) & ~3
