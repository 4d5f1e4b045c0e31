// Playwright's protocol is another one in each version, by its first two numbers. A session serves clients of the versions
// that it has, and says which those are to others. What it says is untrusted.
import { PLAYWRIGHT_VERSIONS_HEADER } from '@berth/contracts/link'
import { AppError } from '../../platform/errors/app-error.ts'

/** The status with which an instance refuses a version. */
export const WRONG_VERSION = 428
const VERSIONS = /^\d{1,3}\.\d{1,3}(?: \d{1,3}\.\d{1,3}){0,19}$/

/** Such as 1.65, from Playwright/1.65.0 (…). Undefined for clients that do not say it. */
export function playwrightVersionOf(userAgent: string | undefined): string | undefined {
  return /^Playwright\/(\d{1,3}\.\d{1,3})\./.exec(userAgent ?? '')?.[1]
}

export function wrongVersion(version: string | undefined, headers: ReadonlyMap<string, string>): AppError {
  const given = headers.get(PLAYWRIGHT_VERSIONS_HEADER) ?? ''
  const versions = VERSIONS.test(given) ? given.split(' ') : []
  const client = version === undefined ? 'a client that does not say its version' : `Playwright ${version}`
  const others = versions.length === 0 ? 'other versions' : versions.join(' and ')
  return new AppError(
    'bad_request',
    `Cannot serve ${client}: this session has ${others}. Use one that it has, let the operator add ` +
      `${version ?? 'yours'} to BERTH_PLAYWRIGHT_VERSIONS, or use connectOverCDP with cdp_ws_url`,
  )
}
