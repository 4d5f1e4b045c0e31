// What a tab remembers of its flow, so that it goes on when it is loaded again; another tab knows nothing of it.

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
    // A browser that remembers nothing: it works until it is loaded again.
  }
}
