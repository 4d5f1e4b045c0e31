// Messages instead of a picture, or over the last one.
import { element, setText } from '../shared/elements.ts'

/** The message for each close code of the websocket; see endings.ts of the server. */
const endings: Readonly<Record<number, string>> = {
  4000: 'It was deleted.',
  4001: 'Nobody used it for its timeout.',
  4002: 'Its browser crashed.',
  4003: 'It ran out of memory.',
  4004: 'It could not be started.',
  4005: 'Its server was away for too long.',
  4007: 'It was given back.',
}
const LINK_EXPIRED = 4006

export interface Explanation {
  readonly title: string
  readonly text: string
}

const ended = (text: string): Explanation => ({ title: 'The session has ended', text })
const expired: Explanation = {
  title: 'This link has expired',
  text: 'Ask whoever gave it to you for a new one.',
}

/** Undefined if trying again may help. */
export function explainClosing(code: number): Explanation | undefined {
  if (code === LINK_EXPIRED) return expired
  const why = endings[code]
  return why === undefined ? undefined : ended(why)
}

/** The message for an error response of the server. */
export function explainProblem(code: string): Explanation | undefined {
  switch (code) {
    case 'unauthorized':
      return {
        title: 'This link does not work',
        text: 'It has expired, or is not complete. Ask whoever gave it to you for a new one.',
      }
    case 'not_found':
      return ended('There is nothing to see here any more.')
    case 'forbidden':
      return {
        title: 'This page may not connect',
        text: 'Open the link itself, or embed it without a sandbox.',
      }
    default:
      return undefined
  }
}

export class Notice {
  readonly #action = element('notice-action')

  constructor({ onRetry }: { onRetry: () => void }) {
    this.#action.addEventListener('click', onRetry)
  }

  connected(): void {
    document.body.dataset['state'] = 'connected'
  }

  waiting({ title, text }: Explanation, { canRetry = false } = {}): void {
    document.body.dataset['state'] = 'waiting'
    this.#say({ title, text })
    this.#action.hidden = !canRetry
  }

  /** Shows a final message. */
  ended(explanation: Explanation): void {
    document.body.dataset['state'] = 'ended'
    this.#say(explanation)
    this.#action.hidden = true
  }

  #say({ title, text }: Explanation): void {
    setText('notice-title', title)
    setText('notice-text', text)
  }
}
