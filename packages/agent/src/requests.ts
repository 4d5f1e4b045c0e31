// Validates the bodies of the agent's operations by hand: the contract's schemas would bring their
// compiler into every instance.
import type { BrowserStart, Shape, TelemetryOrder } from '@berth/contracts/link'

export class BadRequest extends Error {
  readonly status: number

  constructor(message: string, status = 400) {
    super(message)
    this.status = status
  }
}

type Check = (value: unknown) => boolean

const isBoolean: Check = (value) => typeof value === 'boolean'
const isIntegerIn =
  (least: number, most: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most

const looks = { width: isIntegerIn(320, 7680), height: isIntegerIn(240, 4320), kiosk: isBoolean }
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
const browserStart = { headless: isBoolean, ...looks }
const browserExtras = {
  locale: matches(/^[A-Za-z0-9-]{2,35}$/),
  timezone: matches(/^[A-Za-z0-9_+/-]{1,64}$/),
}
const shape = { ...looks, start_url: (value: unknown) => typeof value === 'string' && value.length <= 65_536 }
const lease = { seconds: isIntegerIn(1, 3600) }
const telemetry = {
  categories: (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  version: isIntegerIn(0, Number.MAX_SAFE_INTEGER),
}

// SAFETY, for every reader below: each field was checked, and unknown fields are refused.
export function readBrowserStart(body: unknown): BrowserStart {
  check(body, browserStart, { optional: browserExtras })
  return body as BrowserStart
}

export function readShape(body: unknown): Shape {
  check(body, {}, { optional: shape })
  return body as Shape
}

export function readTelemetryOrder(body: unknown): TelemetryOrder {
  check(body, telemetry)
  return body as TelemetryOrder
}

export function readLeaseSeconds(body: unknown): number {
  check(body, lease)
  return (body as { seconds: number }).seconds
}

/** Chromium validates the names and values. */
export function readPolicy(body: unknown): Readonly<Record<string, unknown>> {
  return objectOf(body)
}

function objectOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequest('Cannot read the request: it is not an object')
  }
  return body as Record<string, unknown>
}

function check(
  body: unknown,
  required: Record<string, Check>,
  { optional = {} }: { optional?: Record<string, Check> } = {},
): void {
  const checks = { ...required, ...optional }
  const given = new Map<string, unknown>(Object.entries(objectOf(body)))
  for (const name of given.keys()) {
    if (!Object.hasOwn(checks, name)) throw new BadRequest(`Cannot read the request: "${name}" is unknown`)
  }
  for (const [name, isRight] of Object.entries(checks)) {
    if (!Object.hasOwn(required, name) && !given.has(name)) continue
    if (!isRight(given.get(name))) throw new BadRequest(`Cannot read the request: "${name}" is wrong`)
  }
}
