import { resolve } from 'node:path'
import { SettingError } from './setting-error.ts'

export type BlobPlace =
  | { readonly kind: 'directory'; readonly path: string }
  /** The prefix is empty, or ends with a slash. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
/** Characters that need no care in any store. */
const PREFIX = /^[A-Za-z0-9!_.*'()/-]{0,512}$/

/** Undefined for the default. */
export function blobPlace(value: string): BlobPlace | undefined {
  if (!value) return undefined
  const [, scheme, rest] = /^([a-z0-9+]+):\/\/(.*)$/i.exec(value) ?? []
  if (scheme === undefined) return { kind: 'directory', path: resolve(value) }
  if (scheme.toLowerCase() !== 's3') {
    throw new SettingError(`must be a directory or s3://bucket/prefix, but is "${value}"`)
  }
  const [bucket = '', ...folders] = rest!.split('/')
  if (!BUCKET.test(bucket)) {
    throw new SettingError(
      `must name a bucket of 3 to 63 characters (a-z, 0-9, - and .), but has "${bucket}"`,
    )
  }
  const prefix = folders.filter(Boolean).join('/')
  if (!PREFIX.test(prefix)) {
    throw new SettingError(`must have a prefix of letters, digits, - _ . and /, but has "${prefix}"`)
  }
  return { kind: 's3', bucket, prefix: prefix && `${prefix}/` }
}

/** The text of a small file, such as a mounted secret. */
export function secretIn(content: Buffer | undefined): string {
  return content?.toString().trim() ?? ''
}
