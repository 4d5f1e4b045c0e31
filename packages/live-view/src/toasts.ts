import { element } from './elements.ts'

const SHOWN_MS = 4_000

export interface Toast {
  say(text: string, kind?: 'problem'): void
  /** After a while in which it can be read. */
  end(): void
}

/** Stays until ended. */
export function lastingToast(text: string): Toast {
  const item = document.createElement('li')
  const say = (now: string, kind?: 'problem') => {
    item.textContent = now
    if (kind) item.dataset['kind'] = kind
  }
  say(text)
  element('toasts').append(item)
  return { say, end: () => void setTimeout(() => item.remove(), SHOWN_MS) }
}

export function toast(text: string): void {
  lastingToast(text).end()
}
