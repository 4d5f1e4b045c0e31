// Validates the request bodies by hand, like the other operations (see requests.ts). Messages never repeat a value,
// because some values are passwords.
import type { ActOrder, LoginSecrets, LookOrder, VisitOrder } from '@berth/contracts/page-snapshot'
import { BadRequest } from '../requests.ts'

const REF = /^[A-Za-z0-9:_-]{1,40}$/
const acts = new Set(['fill', 'choose', 'click', 'tick', 'enter', 'authenticate', 'reload', 'back'])

type Check = (value: unknown) => boolean

const isText =
  (max: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= max
const isMsUpTo =
  (max: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
const isListOf =
  (check: Check, max: number): Check =>
  (value) =>
    Array.isArray(value) && value.length <= max && value.every(check)
const isBoolean: Check = (value) => typeof value === 'boolean'
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)

const waiting = { quiet_ms: isMsUpTo(10_000), most_ms: isMsUpTo(60_000) }
const look = { ...waiting, until_changed: optional(isBoolean) }
const visit = { ...waiting, url: isText(4_096), aside: isBoolean }
const act = {
  act: (value: unknown) => typeof value === 'string' && acts.has(value),
  refs: optional(isListOf((value) => typeof value === 'string' && REF.test(value), 12)),
  value: optional(isText(10_000)),
  user: optional(isText(1_000)),
  hosts: optional(isListOf(isText(262), 200)),
}
const secrets = { values: isListOf(isText(10_000), 100) }

// SAFETY: every field is checked, and unknown fields are rejected.
export const readLookOrder = (body: unknown) => checked(body, look) as LookOrder
export const readActOrder = (body: unknown) => checked(body, act) as ActOrder
export const readSecrets = (body: unknown) => checked(body, secrets) as LoginSecrets

export function readVisitOrder(body: unknown): VisitOrder {
  const order = checked(body, visit) as VisitOrder
  const { protocol } = URL.parse(order.url) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:' && order.url !== 'about:blank') {
    throw new BadRequest('Cannot visit the page: "url" is not an http or https address')
  }
  return order
}

function checked(body: unknown, checks: Readonly<Record<string, Check>>): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequest('Cannot read the request: the body is not an object')
  }
  const given = body as Record<string, unknown>
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(checks, name)) throw new BadRequest(`Cannot read the request: "${name}" is unknown`)
  }
  for (const [name, isRight] of Object.entries(checks)) {
    if (!isRight(given[name])) throw new BadRequest(`Cannot read the request: "${name}" is invalid`)
  }
  return body
}
