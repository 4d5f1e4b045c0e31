export const PATH = '/webhooks'
/** How the deliveries go is no change that the server announces. */
export const REFETCH_MS = 5_000

/** Without what makes addresses long, and may be a secret. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return pathname === '/' ? host : `${host}${pathname}`
}

export const eventsOf = (types: readonly string[]): string =>
  types.length === 0 ? 'All events' : types.join(', ')
