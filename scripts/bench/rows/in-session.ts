import type { Browser } from '@berth/contracts/browsers'

/** A control of the session, by the token that its own URLs carry. */
export function inSession({ base_url, cdp_ws_url }: Browser, path: string): string {
  return `${base_url}${path}?jwt=${new URL(cdp_ws_url).searchParams.get('jwt')}`
}
