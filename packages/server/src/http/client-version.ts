import type { IncomingHttpHeaders } from 'node:http'

/** Whether the request comes from a published client older than this 0.x version. */
export function isClientBefore(headers: IncomingHttpHeaders, minor: number): boolean {
  if (headers['x-stainless-lang'] !== 'js') return false
  const version = /^0\.(\d{1,4})\./.exec(String(headers['x-stainless-package-version']))
  return version !== null && Number(version[1]) < minor
}
