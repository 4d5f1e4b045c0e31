// Addresses of resources.
export const SCHEME = 'berth:'

/** A path in a session keeps its slashes. */
export function fileUri(session: string, path: string): string {
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  return `berth://sessions/${encodeURIComponent(session)}/files${encoded.startsWith('/') ? '' : '/'}${encoded}`
}

export function replayUri(session: string, replayId: string): string {
  return `berth://sessions/${encodeURIComponent(session)}/replays/${encodeURIComponent(replayId)}`
}
