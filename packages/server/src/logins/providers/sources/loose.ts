// Reads providers' answers, whose shape is unknown.
import { SourceFailure } from './source.ts'

export type Loose = Readonly<Record<string, unknown>>

export function asRecord(value: unknown): Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {}
}

export function asList(value: unknown, what: string): Loose[] {
  if (!Array.isArray(value)) {
    throw new SourceFailure(`it gives no list of ${what}; is the address that of such a provider?`)
  }
  return value.map(asRecord)
}

/** Empty when the value is not text. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
