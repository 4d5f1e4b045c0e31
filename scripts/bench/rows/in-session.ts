import type { Browser } from '@berth/contracts/browsers'

/** The URL of a control operation, with the token of the session's own URLs. */
export function inSession({ base_url, cdp_ws_url }: Browser, path: string): string {
  return `${base_url}${path}?jwt=${new URL(cdp_ws_url).searchParams.get('jwt')}`
}
