// Reads what a client sends. Whatever is wrong with a command, its answer names the id that the client gave.
// https://w3c.github.io/webdriver-bidi/#handle-an-incoming-message

/** Clients that share a connection give each of their commands a channel; answers and events carry it back. */
const CHANNEL = 'goog:channel'

export interface Command {
  readonly id: number
  readonly method: string
  readonly params: object
  readonly [CHANNEL]?: string
}

export interface Malformed {
  readonly id: number | null
  readonly problem: string
}

export function readCommand(text: string): Command | Malformed {
  const given = parse(text)
  if (!given) return { id: null, problem: 'The message is not a JSON object' }
  const { id, method, params, [CHANNEL]: channel } = given
  if (!isId(id)) return { id: null, problem: 'The id must be a whole number that is not negative' }
  if (typeof method !== 'string') return { id, problem: 'The method must be a string' }
  if (!isObject(params)) return { id, problem: 'The params must be an object' }
  if (channel !== undefined && typeof channel !== 'string') {
    return { id, problem: `The ${CHANNEL} must be a string` }
  }
  return { id, method, params, ...channelOf({ [CHANNEL]: channel }) }
}

/** What an answer to the command carries back. An empty channel is none. */
export function channelOf({ [CHANNEL]: channel }: { readonly [CHANNEL]?: string | undefined }) {
  return channel ? { [CHANNEL]: channel } : {}
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
