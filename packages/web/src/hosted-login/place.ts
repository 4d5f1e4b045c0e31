// Reads the address of the page, and decides where it may go at the end. Callers append parameters to `hosted_url`, which
// ends with a fragment, so parameters may be in the fragment too.

export interface Place {
  readonly connectionId: string
  readonly code: string | undefined
  readonly successUrl: string | undefined
  readonly errorUrl: string | undefined
}

export function readPlace({ pathname, search, hash }: Pick<URL, 'pathname' | 'search' | 'hash'>): Place {
  const hidden = new URLSearchParams(hash.replace(/^#/, '').replaceAll('?', '&'))
  const open = new URLSearchParams(search)
  const named = (name: string) => hidden.get(name) ?? open.get(name) ?? undefined
  return {
    connectionId: decodeURIComponent(pathname.split('/').at(-1) ?? ''),
    code: hidden.get('code') ?? undefined,
    successUrl: named('success_url'),
    errorUrl: named('error_url'),
  }
}

/** Addresses that would run or show something here instead of leaving the page. */
const REFUSED = new Set(['javascript:', 'data:', 'file:', 'vbscript:', 'blob:', 'about:', 'view-source:'])

/**
 * Returns undefined for an address that is not registered with the connection. Anybody can write an address into a link
 * to this page, and people trust where a login page leads.
 */
export function destination(
  address: string | undefined,
  registered: readonly string[],
  parameters: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const url = address === undefined ? undefined : parsed(address)
  if (!url || REFUSED.has(url.protocol) || !registered.includes(placeOf(url))) return undefined
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  return url.href
}

/** In the format of the server's registered addresses. */
function placeOf({ href }: URL): string {
  const url = new URL(href)
  url.search = ''
  url.hash = ''
  return url.href
}

function parsed(address: string): URL | undefined {
  try {
    return new URL(address)
  } catch {
    return undefined
  }
}
