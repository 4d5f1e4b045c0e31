// Short messages at the top of the page. The page has an empty list `#toasts`, and its style imports toasts.css.
import { element, make } from './elements.ts'

const SHOWN_MS = 4_000

export interface Toast {
  say(text: string, kind?: 'problem'): void
  /** Removes the toast after a reading time. */
  end(): void
}

/** The toast stays until end() is called. */
export function lastingToast(text: string): Toast {
  const item = make('li', {}, text)
  element('toasts').append(item)
  return {
    say: (now, kind) => {
      item.textContent = now
      if (kind) item.dataset['kind'] = kind
    },
    end: () => void setTimeout(() => item.remove(), SHOWN_MS),
  }
}

export function toast(text: string): void {
  lastingToast(text).end()
}
