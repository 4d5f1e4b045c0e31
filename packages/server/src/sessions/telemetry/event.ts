// One event before it has its number. Events from an instance are untrusted and checked here: an instance can invent
// the content of its own events, but nothing else.
import {
  categoryOfType,
  cdpCategories,
  eventCategories,
  sourceKinds,
  type Category,
  type EventCategory,
  type EventType,
} from '@berth/contracts/telemetry-events'
import { excessOf } from '../../http/nesting.ts'
import type { OwnEvent } from '../session/own-event.ts'
import type { Selection } from './selection.ts'

export interface SessionEvent {
  /** Microseconds since 1970. */
  readonly ts: number
  readonly type: EventType
  readonly category: EventCategory
  readonly source: { readonly kind: (typeof sourceKinds)[number]; readonly event?: string }
  readonly data?: object
  readonly truncated?: boolean
}

/** An instance uses its host's clock; a larger difference is made up. */
const MAX_AHEAD_US = 60_000_000
const MAX_BEHIND_US = 24 * 3_600_000_000
/** Large events have long texts, not many values, which would take the server's time. */
const JSON_LIMITS = { maxLevels: 200, maxValues: 20_000 }

const ownTypes: ReadonlySet<string> = new Set([
  'api_call',
  'cdp_connect',
  'cdp_disconnect',
  'live_view_connect',
  'live_view_disconnect',
  'system_oom_kill',
  'monitor_events_deleted',
] satisfies EventType[])

export const nowUs = (): number => Math.round((performance.timeOrigin + performance.now()) * 1000)

export function isCaptured(selection: Selection, category: EventCategory): boolean {
  if (selection === null) return false
  if (category !== 'monitor') return selection.includes(category)
  return needsMonitor(selection)
}

/** Whether the selection needs a CDP connection. */
export function needsMonitor(selection: readonly Category[]): boolean {
  return selection.includes('screenshot') || cdpCategories.some((category) => selection.includes(category))
}

export function ownEvent({ type, data }: OwnEvent): SessionEvent {
  return {
    ts: nowUs(),
    type,
    category: categoryOfType[type],
    source: { kind: 'kernel_api' },
    ...(data && { data }),
  }
}

/** Reads an event from a line of the agent. Throws for anything that an instance may not send. */
export function readAgentLine(line: string): { position: number; event: SessionEvent } {
  if (line.length > JSON_LIMITS.maxValues && excessOf(line, JSON_LIMITS)) throw new Error('it is too complex')
  const { n, event } = JSON.parse(line) as { n?: unknown; event?: unknown }
  if (!Number.isSafeInteger(n) || (n as number) < 1) throw new Error('it has no number')
  return { position: n as number, event: checkEvent(event) }
}

function checkEvent(value: unknown): SessionEvent {
  if (!isObject(value)) throw new Error('it is not an object')
  const { ts, type, source, data, truncated } = value
  if (typeof type !== 'string' || !Object.hasOwn(categoryOfType, type) || ownTypes.has(type)) {
    throw new Error('its type may not come from an instance')
  }
  if (!isObject(source) || !isSourceKind(source['kind'])) throw new Error('it has no source')
  if (data !== undefined && !isObject(data)) throw new Error('its data is not an object')
  const { event, metadata } = source
  return {
    ts: plausible(ts),
    // SAFETY: it is a key of the table.
    type: type as EventType,
    category: categoryOfType[type as EventType],
    source: {
      kind: source['kind'],
      ...(typeof event === 'string' && { event }),
      ...(isObject(metadata) && { metadata: texts(metadata) }),
    },
    ...(data !== undefined && { data }),
    ...(truncated === true && { truncated }),
  }
}

function plausible(ts: unknown): number {
  const now = nowUs()
  const isSo =
    Number.isSafeInteger(ts) && (ts as number) > now - MAX_BEHIND_US && (ts as number) < now + MAX_AHEAD_US
  return isSo ? (ts as number) : now
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSourceKind = (value: unknown): value is (typeof sourceKinds)[number] =>
  (sourceKinds as readonly unknown[]).includes(value)

function texts(object: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(object).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(entries) as Record<string, string>
}

/** Categories as bits, to select segments. */
export const bitOf = (category: EventCategory): number => 1 << eventCategories.indexOf(category)
