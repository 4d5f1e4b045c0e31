// Structured logs: one JSON object per line on standard output. Lines that do not fit are dropped and counted.
import { pino, type DestinationStream, type Logger } from 'pino'
import { LogWriter } from './log-writer.ts'

const STANDARD_OUTPUT = 1

const SECRETS = /sk_[A-Za-z0-9_]{8,}|(jwt=)[^&\s"]+|(bearer )[^\s"]+|(\/browser\/devtools\/)[^/?\s"]+/gi

/** Removes keys and tokens from text that comes from a request. */
export function redact(text: string): string {
  return text.replace(
    SECRETS,
    (_match, jwt?: string, bearer?: string, path?: string) => `${jwt ?? bearer ?? path ?? ''}[redacted]`,
  )
}

export interface ServerLog {
  readonly log: Logger
  readonly droppedLines: () => number
  readonly flush: () => void
}

export function openLog(level: string, stream?: DestinationStream): ServerLog {
  let dropped = 0
  const output = new LogWriter(STANDARD_OUTPUT, { onDrop: () => dropped++ })
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      redact: { paths: ['headers.authorization', 'headers.cookie', '*.authorization'], censor: '[redacted]' },
    },
    stream ?? output,
  )
  return {
    log,
    droppedLines: () => dropped,
    flush: () => output.flushSync(),
  }
}

/** Database and parser messages may quote what a client sent. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: redact(String(error)) }
  const { code } = error as NodeJS.ErrnoException
  return {
    type: error.name,
    message: redact(error.message),
    ...(code !== undefined && { code }),
    stack: redact(error.stack ?? ''),
    ...(error.cause !== undefined && { cause: serializeError(error.cause) }),
  }
}
