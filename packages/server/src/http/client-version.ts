import type { IncomingHttpHeaders } from 'node:http'

/** Clients whose versions count alike. */
const LANGUAGES: readonly unknown[] = ['js', 'python']

/** Whether the request comes from a published client older than this 0.x version. */
export function isClientBefore(headers: IncomingHttpHeaders, minor: number): boolean {
  if (!LANGUAGES.includes(headers['x-stainless-lang'])) return false
  const version = /^0\.(\d{1,4})\./.exec(String(headers['x-stainless-package-version']))
  return version !== null && Number(version[1]) < minor
}
