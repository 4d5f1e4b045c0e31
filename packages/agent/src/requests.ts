// The bodies of the agent's operations, checked by hand: the schemas of the contract would bring
// their compiler into every instance.
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
const browserStart = { headless: isBoolean, ...looks }
const shape = { ...looks, start_url: (value: unknown) => typeof value === 'string' && value.length <= 65_536 }
const lease = { seconds: isIntegerIn(1, 3600) }
const telemetry = {
  categories: (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  version: isIntegerIn(0, Number.MAX_SAFE_INTEGER),
}

// SAFETY, for all of them: every field was checked, and there are no others.
export function readBrowserStart(body: unknown): BrowserStart {
  check(body, browserStart, { areOptional: false })
  return body as BrowserStart
}

export function readShape(body: unknown): Shape {
  check(body, shape, { areOptional: true })
  return body as Shape
}

export function readTelemetryOrder(body: unknown): TelemetryOrder {
  check(body, telemetry, { areOptional: false })
  return body as TelemetryOrder
}

export function readLeaseSeconds(body: unknown): number {
  check(body, lease, { areOptional: false })
  return (body as { seconds: number }).seconds
}

function check(
  body: unknown,
  checks: Record<string, Check>,
  { areOptional }: { areOptional: boolean },
): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequest('Cannot read the request: it is not an object')
  }
  const given = new Map<string, unknown>(Object.entries(body))
  for (const name of given.keys()) {
    if (!Object.hasOwn(checks, name)) throw new BadRequest(`Cannot read the request: "${name}" is unknown`)
  }
  for (const [name, isRight] of Object.entries(checks)) {
    if (areOptional && !given.has(name)) continue
    if (!isRight(given.get(name))) throw new BadRequest(`Cannot read the request: "${name}" is wrong`)
  }
}
