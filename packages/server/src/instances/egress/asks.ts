// What an agent asks before the kernel goes on: whether a name exists, and what becomes of a connection. And what it asks
// for telemetry: why a connection failed. Requests to a
// name of ours on the egress socket, so they have its limits. Programs of the instance may ask too: they can then lead
// connections of their own session elsewhere, which they could by other means. Pages cannot.
import { isIP } from 'node:net'
import type { ConnectionFate } from '@berth/contracts/link'
import type { Arrivals } from './arrivals.ts'
import type { Exchange } from './exchanges.ts'
import type { Outgoing } from './outgoing.ts'
import type { Failure } from './recent-failures.ts'
import { EgressRefusal, toRefusal } from './refusal.ts'
import { readConnectTarget } from './target.ts'

interface AskParts {
  readonly outgoing: Outgoing
  readonly arrivals: Arrivals
  /** Of the question. */
  readonly exchange: Exchange
}

type AskAnswer = NameAnswer | { readonly fate: ConnectionFate } | { readonly failure?: Failure }

/** Without addresses, a connection must go to the name. */
interface NameAnswer {
  readonly exists: boolean
  readonly addresses?: readonly string[]
}

/** As many as a browser would try. */
const MAX_ADDRESSES = 16
const ASK = /^\/(names|connections|failures)\/([^/?]+)(?:\?to=([^/?&]+))?$/

/**
 * `/names/a.example`, `/failures/a.example:443`, `/connections/a.example:80?to=240.0.0.1`: the host, and the address that
 * stands for it inside.
 */
export async function answerAsk(path: string, parts: AskParts): Promise<AskAnswer> {
  const { outgoing, arrivals, exchange } = parts
  const [, kind, ...encoded] = ASK.exec(path) ?? []
  const [what = '', to = ''] = encoded.map((text) => decoded(text ?? ''))
  if (kind === 'names') {
    const { host } = readConnectTarget(`${what}:1`)
    checkReady(outgoing.isRouteDecided)
    return lookUp(outgoing, host, exchange.signal)
  }
  if (kind === 'failures') {
    const failure = outgoing.failureAt(readConnectTarget(what))
    return { ...(failure && { failure }) }
  }
  if (kind !== 'connections' || isIP(to) === 0) {
    throw new EgressRefusal(
      'bad_request',
      'Cannot read the question: it is about neither a name nor a connection',
    )
  }
  const target = readConnectTarget(what)
  checkReady(outgoing.isRouteDecided && arrivals.isListening)
  return { fate: await arrivals.decide(target, to, exchange) }
}

/** A server that has just taken over does not know everything yet. The agent asks again. */
function checkReady(isReady: boolean): void {
  if (!isReady)
    throw new EgressRefusal('egress_busy', 'Cannot answer yet: the route of the session is not known')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new EgressRefusal('bad_request', 'Cannot read the question: it is badly encoded')
  }
}

/** A name that we are too busy to look up is taken to exist: its connection is refused with that reason. */
async function lookUp(outgoing: Outgoing, name: string, signal: AbortSignal): Promise<NameAnswer> {
  try {
    const addresses = await outgoing.addressesOf(name, signal)
    return { exists: true, ...(addresses.length > 0 && { addresses: addresses.slice(0, MAX_ADDRESSES) }) }
  } catch (error) {
    return { exists: toRefusal(error, name).code === 'egress_busy' }
  }
}
