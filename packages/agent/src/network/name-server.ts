// The name server of an instance. It answers with the addresses that egress gives, or with a stand-in.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode, type Packet } from 'dns-packet'
import type { StandIns } from './stand-ins.ts'

/** So that names do not stay in the caches of programs after their stand-ins are forgotten. */
const TTL_SECONDS = 60
const MAX_AT_ONCE = 512
const NO_SUCH_NAME = 3
/** Of DNS over UDP. */
const MAX_REPLY_BYTES = 512
/** Bits of a DNS header: an answer, with recursion. */
const RECURSION_DESIRED = 1 << 8
const RECURSION_AVAILABLE = 1 << 7

export interface NameServerOptions {
  readonly port: number
  readonly standIns: StandIns
  readonly addressesOf: AddressesOf
}

/** Undefined if there is no such name, and none if it needs a stand-in. */
type AddressesOf = (name: string) => Promise<readonly string[] | undefined>

/** Rejects when somebody has the port. */
export async function startNameServer({ port, standIns, addressesOf }: NameServerOptions): Promise<Socket> {
  const socket = createSocket('udp4')
  let underWay = 0
  const answer = async (query: Buffer, from: RemoteInfo) => {
    const reply = await replyTo(query, standIns, addressesOf)
    if (reply) socket.send(reply, from.port, from.address, () => {})
  }
  socket.on('message', (query, from) => {
    // Who gets no answer asks again.
    if (underWay >= MAX_AT_ONCE) return
    underWay++
    answer(query, from)
      // Not a query, or egress is closed at the moment.
      .catch(() => {})
      .finally(() => underWay--)
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  socket.on('error', () => {})
  return socket
}

/** Undefined for what is not a query. */
export async function replyTo(
  query: Buffer,
  standIns: StandIns,
  addressesOf: AddressesOf,
): Promise<Buffer | undefined> {
  const { id, type, questions = [] } = decode(query)
  const [question] = questions
  if (type !== 'query' || questions.length !== 1 || !question) return undefined
  const name = question.name.toLowerCase()
  // Every name has IPv4 addresses and nothing else, so only a question for them needs to be asked.
  const addresses = question.type === 'A' ? await addressesOf(name) : []
  const reply: Packet = {
    type: 'response',
    id: id ?? 0,
    flags: RECURSION_DESIRED | RECURSION_AVAILABLE | (addresses ? 0 : NO_SUCH_NAME),
    questions: [question],
  }
  if (addresses && question.type === 'A') {
    const given = addresses.length > 0 ? addresses : [standIns.addressOf(name)]
    reply.answers = given.map((data) => ({ type: 'A', name: question.name, ttl: TTL_SECONDS, data }))
  }
  return encodeShort(reply)
}

/** With as many answers as fit. */
function encodeShort(reply: Packet): Buffer {
  const bytes = encode(reply)
  if (bytes.length <= MAX_REPLY_BYTES || !reply.answers?.length) return bytes
  return encodeShort({ ...reply, answers: reply.answers.slice(0, -1) })
}
