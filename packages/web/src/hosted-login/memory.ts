// Keeps the flow of a tab, so that it continues after a reload. Other tabs cannot see it.

export interface Remembered {
  readonly token: string
  readonly successUrl: string | undefined
  readonly errorUrl: string | undefined
}

const keyOf = (connectionId: string) => `berth-login:${connectionId}`

export function recall(connectionId: string): Remembered | undefined {
  try {
    const text = sessionStorage.getItem(keyOf(connectionId))
    return text === null ? undefined : (JSON.parse(text) as Remembered)
  } catch {
    return undefined
  }
}

export function remember(connectionId: string, remembered: Remembered): void {
  try {
    sessionStorage.setItem(keyOf(connectionId), JSON.stringify(remembered))
  } catch {
    // The browser does not allow storage, so the page works only until it is reloaded.
  }
}
