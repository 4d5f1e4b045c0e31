// What the server and the keeper say to each other. The keeper is root and the server is not, so the keeper believes
// nothing: each request is checked here, field by field, before anything looks at it. Node's own channel between parent
// and child carries the messages, and the sockets that the keeper hands over.
import type { BrowserStart } from '@berth/contracts/link'
import type {
  Capabilities,
  DriverMemory,
  InstanceEnd,
  InstanceLimits,
  MemoryUse,
  OomKill,
} from '../driver/driver.ts'

/** What an agent is started with. The keeper itself adds the lease and the uids. */
export interface AgentWish {
  readonly browser?: BrowserStart
  readonly hostLoopback?: boolean
}

interface Asks {
  open: object
  start: {
    readonly id: string
    readonly limits: InstanceLimits
    readonly agent: AgentWish
    readonly isBackground: boolean
    readonly gpu: boolean
  }
  /** Gives up the start with this number. */
  cancel: { readonly of: number }
  adopt: object
  /** A socket to Chromium, made inside the instance's network namespace. */
  connect: { readonly id: string }
  freeze: { readonly id: string }
  thaw: { readonly id: string }
  /** Moves the memory of a frozen instance to swap; thaw interrupts it. */
  pageOut: { readonly id: string }
  /** What instances use of memory and swap. */
  readMemory: object
  setLimits: { readonly id: string; readonly limits: InstanceLimits }
  setBackground: { readonly id: string; readonly isBackground: boolean }
  endureOom: { readonly id: string }
  destroy: { readonly id: string }
  /** The server is ready, and goes before other processes from now on. */
  goAhead: object
  close: object
}

export type Ask = keyof Asks
export type AskFor<Kind extends Ask> = { readonly ask: Kind } & Asks[Kind]
/** `n` is the server's number for it; the answer has the same. */
export type Request = { [Kind in Ask]: AskFor<Kind> & { readonly n: number } }[Ask]

export interface Failure {
  /** That of the error, and of its causes. */
  readonly messages: readonly string[]
  /** What the server must tell apart. */
  readonly kind?: 'no-gpu' | 'no-capacity'
}

export interface Opened extends Omit<Capabilities, 'locales'> {
  readonly locales: readonly string[]
  readonly shortcomings: readonly string[]
  /** Where the sockets of agents are; empty if no instance can start. */
  readonly instancesDir: string
}

export interface Adopted {
  readonly id: string
  /** It stays frozen. */
  readonly isPagedOut: boolean
}

export interface PagedOut {
  readonly use: MemoryUse
  /** Whether enough was moved, and it is still frozen. */
  readonly isPagedOut: boolean
}

export interface SentMemory extends Omit<DriverMemory, 'uses'> {
  readonly uses: readonly (readonly [id: string, use: MemoryUse])[]
}

/** From the keeper, which the server trusts. */
export type FromKeeper =
  | { readonly n: number; readonly value: unknown }
  | { readonly n: number; readonly failure: Failure }
  /** With the listening egress socket of an instance that is being started or taken over. */
  | { readonly event: 'egress'; readonly id: string }
  /** With the listening socket in the network of such an instance. */
  | { readonly event: 'arrivals'; readonly id: string }
  | { readonly event: 'ended'; readonly id: string; readonly end: InstanceEnd; readonly oomKill?: OomKill }
  | {
      readonly event: 'log'
      readonly level: LogLevel
      readonly fields: Readonly<Record<string, unknown>>
      readonly message: string
    }

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** The most that one instance may have: what the operator set, which root reads by itself. */
export type MaxLimits = InstanceLimits

type Check = (value: unknown, path: string) => void

/** Throws an error that names the field. */
export function checkRequest(message: unknown, max: MaxLimits): Request {
  const kind = isRecord(message) ? message['ask'] : undefined
  if (typeof kind !== 'string' || !Object.hasOwn(checks, kind)) {
    throw new Error(`Refused: "ask" must be one of ${Object.keys(checks).join(', ')}`)
  }
  // SAFETY: the line above.
  const fields = checks[kind as Ask](max)
  record({ n: integer(0, Number.MAX_SAFE_INTEGER), ask: () => {}, ...fields })(message, kind)
  // SAFETY: every field was checked, and there are no others.
  return message as Request
}

/** The number of a message that is not a request, to refuse it by. */
export function numberOf(message: unknown): number | undefined {
  const n = isRecord(message) ? message['n'] : undefined
  return typeof n === 'number' && Number.isSafeInteger(n) && n >= 0 ? n : undefined
}

const checks: Readonly<Record<Ask, (max: MaxLimits) => Readonly<Record<string, Check>>>> = {
  open: () => ({}),
  start: (max) => ({ id, limits: limits(max), agent, isBackground: boolean, gpu: boolean }),
  cancel: () => ({ of: integer(0, Number.MAX_SAFE_INTEGER) }),
  adopt: () => ({}),
  connect: () => ({ id }),
  freeze: () => ({ id }),
  thaw: () => ({ id }),
  pageOut: () => ({ id }),
  readMemory: () => ({}),
  setLimits: (max) => ({ id, limits: limits(max) }),
  setBackground: () => ({ id, isBackground: boolean }),
  endureOom: () => ({ id }),
  destroy: () => ({ id }),
  goAhead: () => ({}),
  close: () => ({}),
}

const id = text(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)

function limits(max: MaxLimits): Check {
  return record({
    memoryBytes: integer(1, max.memoryBytes),
    processes: integer(1, max.processes),
    cpus: number(0.001, max.cpus),
    homeBytes: integer(1, max.homeBytes),
  })
}

/** As in packages/contracts/src/link.ts, which has more than root needs. */
const agent = record(
  {},
  {
    browser: record(
      { headless: boolean, width: integer(320, 7680), height: integer(240, 4320), kiosk: boolean },
      {
        locale: text(/^[A-Za-z0-9-]{2,35}$/),
        timezone: text(/^[A-Za-z0-9_+/-]{1,64}$/),
        blocksPopups: boolean,
        gpu: boolean,
      },
    ),
    hostLoopback: boolean,
  },
)

function record(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
): Check {
  const known = { ...required, ...optional }
  return (value, path) => {
    if (!isRecord(value)) throw refusal(path, 'must be an object')
    const stranger = Object.keys(value).find((name) => !Object.hasOwn(known, name))
    if (stranger !== undefined) throw refusal(path, `has an unknown field "${stranger.slice(0, 40)}"`)
    for (const [name, check] of Object.entries(known)) {
      if (Object.hasOwn(value, name)) check(value[name], `${path}.${name}`)
      else if (Object.hasOwn(required, name)) throw refusal(`${path}.${name}`, 'is missing')
    }
  }
}

function number(min: number, max: number): Check {
  return (value, path) => {
    if (typeof value !== 'number' || !(value >= min && value <= max))
      throw refusal(path, `must be a number from ${min} to ${max}`)
  }
}

function integer(min: number, max: number): Check {
  return (value, path) => {
    number(min, max)(value, path)
    if (!Number.isSafeInteger(value)) throw refusal(path, 'must be a whole number')
  }
}

function text(pattern: RegExp): Check {
  return (value, path) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw refusal(path, `must match ${pattern}`)
  }
}

function boolean(value: unknown, path: string): void {
  if (typeof value !== 'boolean') throw refusal(path, 'must be true or false')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refusal(path: string, problem: string): Error {
  return new Error(`Refused: "${path}" ${problem}`)
}
