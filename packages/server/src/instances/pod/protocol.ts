// What is said between a server, the link of a Pod and the launcher of its instance. A server opens every connection, and
// begins it with one line: `connect <purpose>` for the agent, `hold <token> <term>` for the Pod itself, `egress <token>`
// to wait for a connection that the instance opens. The last two are of the server that holds the Pod.
import { join } from 'node:path'
import { createHmac } from 'node:crypto'
import { LineSplitter } from '@berth/kit/lines'

export const POD_LINK_PORT = 7443
/** As whom servers show the key of the helper of a node. */
export const FREEZER_IDENTITY = 'freezer'
/** Said on a waiting egress connection when the instance uses it. */
export const EGRESS_BEGINS = 0x01
const MAX_MESSAGE_BYTES = 16 * 1024
export const MAX_FIRST_LINE_BYTES = 128

/** TLS 1.3 with a key that both have: each side proves it, and a recorded connection stays secret when the key is lost. */
export const pskTls = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_GCM_SHA256',
  allowHalfOpen: true,
} as const

/** Every server can compute it; a Pod has its own only. */
export function instanceKey(secret: Buffer, id: string): Buffer {
  return createHmac('sha256', secret).update(`instance ${id}`).digest()
}

/** In the volume that the two containers share. The tenant sees `pub` only, which is read-only for it. */
export function sharedPaths(directory: string) {
  const pub = join(directory, 'pub')
  return {
    directory,
    pub,
    egress: join(pub, 'egress.sock'),
    /** The launcher's connection to the link. Made last: whoever finds it finds the rest. */
    life: join(directory, 'life.sock'),
    /** The agent listens there. */
    link: join(directory, 'link.sock'),
    /** The launcher's own. */
    instance: join(directory, 'instance'),
  }
}
export type SharedPaths = ReturnType<typeof sharedPaths>

export const podEnds = ['ended-by-itself', 'lease-lapsed', 'out-of-memory'] as const
export type PodEnd = (typeof podEnds)[number]

/** What the agent answered when its lease was renewed, or why it did not. */
export interface Renewed {
  /** Number of the request. */
  readonly renewed: number
  readonly answer: string
  readonly error: string
}

/** From the Pod to the server that holds it. `wantsEgress`: a connection of the instance waits for one of the server. `detail`: the last words of bubblewrap and the agent. */
export type FromPod =
  | { readonly up: true }
  | { readonly pong: true }
  | { readonly end: PodEnd; readonly detail: string }
  | { readonly taken: true }
  | { readonly wantsEgress: true }
  | Renewed

/** From the server that holds the Pod. `parked`: more connections for egress than these need not wait. */
export type ToPod =
  | { readonly ping: true }
  | { readonly endureOom: true }
  | { readonly end: true }
  | { readonly parked: number }
  | { readonly renew: number; readonly seconds: number }

export function encode(message: FromPod | ToPod): string {
  return `${JSON.stringify(message)}\n`
}

/** Calls `hear` for each whole message. `fail` gets what is malformed; then nothing more is heard. */
export function messageReader(
  hear: (message: Readonly<Record<string, unknown>>) => void,
  fail: (error: Error) => void,
): (piece: Buffer) => void {
  const splitter = new LineSplitter({ maxBytes: MAX_MESSAGE_BYTES })
  let hasFailed = false
  return (piece) => {
    if (hasFailed) return
    try {
      for (const line of splitter.split(piece)) {
        const message: unknown = JSON.parse(line.toString())
        if (typeof message !== 'object' || message === null) throw new Error('A message is not an object')
        hear(message as Record<string, unknown>)
      }
    } catch (error) {
      hasFailed = true
      fail(error as Error)
    }
  }
}

/** Undefined for what no Pod says. */
export function readFromPod(message: Readonly<Record<string, unknown>>): FromPod | undefined {
  if (message['up'] === true) return { up: true }
  if (message['pong'] === true) return { pong: true }
  if (message['taken'] === true) return { taken: true }
  if (message['wantsEgress'] === true) return { wantsEgress: true }
  const { renewed, answer, error } = message
  if (typeof renewed === 'number' && typeof answer === 'string' && typeof error === 'string')
    return { renewed, answer, error }
  const end = podEnds.find((each) => each === message['end'])
  if (!end) return undefined
  const { detail } = message
  return { end, detail: typeof detail === 'string' ? detail.slice(0, 4096) : '' }
}
