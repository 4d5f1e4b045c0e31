import type { StorageOrder, VisitOrder } from '@berth/contracts/page-snapshot'
import { checked } from '../checks/check.ts'
import { BadRequest } from '../requests/bad-request.ts'
import { checks } from './orders.checks.ts'

export const readLookOrder = (body: unknown) => checked(checks.lookOrder, body)
export const readActOrder = (body: unknown) => checked(checks.actOrder, body)
export const readPasskeysOrder = (body: unknown) => checked(checks.passkeysOrder, body)
export const readPhotoOrder = (body: unknown) => checked(checks.photoOrder, body)
export const readSecrets = (body: unknown) => checked(checks.loginSecrets, body)

export function readVisitOrder(body: unknown): VisitOrder {
  const order = checked(checks.visitOrder, body)
  const { protocol } = URL.parse(order.url) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:' && order.url !== 'about:blank') {
    throw new BadRequest('Cannot visit the page: "url" is not an http or https address')
  }
  return order
}

export function readStorageOrder(body: unknown): StorageOrder {
  const order = checked(checks.storageOrder, body)
  for (const origin of [...order.origins, ...order.local.map((each) => each.origin)]) {
    if (!/^https?:$/.test(URL.parse(origin)?.protocol ?? '')) {
      throw new BadRequest('Cannot store this: "origin" is not an http or https origin')
    }
  }
  return order
}
