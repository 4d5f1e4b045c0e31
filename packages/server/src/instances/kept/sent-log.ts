// The keeper's log. Its lines go to the server, which writes one log for both.
import type { Log } from '../driver/log.ts'
import type { FromKeeper, LogLevel } from './messages.ts'

type Line = Extract<FromKeeper, { event: 'log' }>

export class SentLog implements Log {
  readonly #send: (line: Line) => void
  readonly #fields: object

  constructor(send: (line: Line) => void, fields: object = {}) {
    this.#send = send
    this.#fields = fields
  }

  debug(fields: object, message: string): void {
    this.#line('debug', fields, message)
  }

  info(fields: object, message: string): void {
    this.#line('info', fields, message)
  }

  warn(fields: object, message: string): void {
    this.#line('warn', fields, message)
  }

  error(fields: object, message: string): void {
    this.#line('error', fields, message)
  }

  child(fields: object): Log {
    return new SentLog(this.#send, { ...this.#fields, ...fields })
  }

  #line(level: LogLevel, fields: object, message: string): void {
    const all = Object.entries({ ...this.#fields, ...fields })
    const plain = all.map(([name, value]) => [name, value instanceof Error ? plainError(value) : value])
    this.#send({ event: 'log', level, fields: Object.fromEntries(plain) as Line['fields'], message })
  }
}

function plainError({ message, stack, cause }: Error): object {
  return { message, stack, ...(cause instanceof Error && { cause: plainError(cause) }) }
}

/** The opposite, for the server's logger. */
export function readError(value: unknown): Error | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { message, stack, cause } = value as { message?: unknown; stack?: unknown; cause?: unknown }
  const error = new Error(String(message), { cause: readError(cause) })
  if (typeof stack === 'string') error.stack = stack
  return error
}
