// The bodies of the operations, checked by hand as those of the others are (see requests.ts). No message repeats a
// value: there are passwords among them.
import type { ActOrder, LoginSecrets, LookOrder, VisitOrder } from '@berth/contracts/page-snapshot'
import { BadRequest } from '../requests.ts'

const REF = /^[A-Za-z0-9:_-]{1,40}$/
const acts = new Set(['fill', 'choose', 'click', 'tick', 'enter', 'authenticate', 'reload', 'back'])

type Check = (value: unknown) => boolean

const isText =
  (most: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= most
const isMsUpTo =
  (most: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most
const isListOf =
  (check: Check, most: number): Check =>
  (value) =>
    Array.isArray(value) && value.length <= most && value.every(check)
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

// SAFETY, for all of them: every field was checked, and there are no others.
export const readLookOrder = (body: unknown) => checked(body, look) as LookOrder
export const readActOrder = (body: unknown) => checked(body, act) as ActOrder
export const readSecrets = (body: unknown) => checked(body, secrets) as LoginSecrets

export function readVisitOrder(body: unknown): VisitOrder {
  const order = checked(body, visit) as VisitOrder
  const { protocol } = URL.parse(order.url) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:' && order.url !== 'about:blank') {
    throw new BadRequest('Cannot visit this: "url" is no address of a website')
  }
  return order
}

function checked(body: unknown, checks: Readonly<Record<string, Check>>): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequest('Cannot read the request: it is not an object')
  }
  const given = body as Record<string, unknown>
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(checks, name)) throw new BadRequest(`Cannot read the request: "${name}" is unknown`)
  }
  for (const [name, isRight] of Object.entries(checks)) {
    if (!isRight(given[name])) throw new BadRequest(`Cannot read the request: "${name}" is wrong`)
  }
  return body
}
