import type { SealedBox } from '../../../platform/secrets/sealed-box.ts'
import type { Headers } from './headers.ts'
import type { DestinationRecord } from './types.ts'

/** Null without headers. */
export function sealHeaders(box: SealedBox, id: string, headers: Headers): Buffer | null {
  return Object.keys(headers).length === 0 ? null : box.seal(JSON.stringify(headers), contextOf(id))
}

export function openHeaders(
  box: SealedBox,
  { id, sealed_headers: sealed }: Pick<DestinationRecord, 'id' | 'sealed_headers'>,
): Headers {
  // SAFETY: it opens only if `sealHeaders` made it.
  return sealed === null ? {} : (JSON.parse(box.open(sealed, contextOf(id))) as Headers)
}

const contextOf = (id: string) => `telemetry_destinations/sealed_headers/${id}`
