// Secrets and signatures, by Standard Webhooks 1.0 (https://www.standardwebhooks.com): an HMAC over the id, the time and
// the body, so that a receiver notices changed and repeated requests.
import { createHmac, randomBytes } from 'node:crypto'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { Secrets, WebhookRecord } from './types.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

type Column = 'sealed_secret' | 'sealed_old_secret'
const contextOf = (id: string, column: Column) => `webhooks/${column}/${id}`

export function sealSecret(box: SealedBox, id: string, secret: string, column: Column): Buffer {
  return box.seal(secret, contextOf(id, column))
}

export type SealedSecrets = Pick<
  WebhookRecord,
  'id' | 'sealed_secret' | 'sealed_old_secret' | 'old_secret_until'
>

export function openSecrets(box: SealedBox, record: SealedSecrets, now = Date.now()): Secrets {
  const { id, sealed_secret: sealed, sealed_old_secret: sealedOld, old_secret_until: until } = record
  if (sealed === null) throw new Error(`Webhook "${id}" has no secret: it is deleted`)
  const isOldValid = sealedOld !== null && until !== null && Date.parse(until) > now
  return {
    current: box.open(sealed, contextOf(id, 'sealed_secret')),
    old: isOldValid ? box.open(sealedOld, contextOf(id, 'sealed_old_secret')) : undefined,
  }
}

/** The headers of a request with this body, sent now. The id is that of the event, also when it is sent again. */
export function signatureHeaders(
  { current, old }: Secrets,
  { id, body }: { id: string; body: Buffer },
  now = Date.now(),
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const signed = [current, ...(old === undefined ? [] : [old])].map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signed.join(' ') }
}
