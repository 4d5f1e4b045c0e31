// Structured logs, one JSON object a line on standard output. A blocked reader costs log lines,
// never requests: the buffer is bounded and what does not fit is dropped and counted.
import { pino, type DestinationStream, type Logger } from 'pino'

const LARGEST_BUFFER = 1024 * 1024
// Lines leave together: each write takes a turn of another thread.
const GATHER_BYTES = 8 * 1024
const GATHER_MS = 25

const SECRETS = /sk_[A-Za-z0-9_]{8,}|(jwt=)[^&\s"]+|(bearer )[^\s"]+/gi

/** Takes keys and tokens out of text that comes from a request. */
export function redact(text: string): string {
  return text.replace(SECRETS, (_match, jwt?: string, bearer?: string) => `${jwt ?? bearer ?? ''}[redacted]`)
}

export interface ServerLog {
  readonly log: Logger
  readonly droppedLines: () => number
  readonly flush: () => void
}

export function openLog(level: string, stream?: DestinationStream): ServerLog {
  let dropped = 0
  const destination = pino.destination({
    fd: 1,
    sync: false,
    maxLength: LARGEST_BUFFER,
    minLength: GATHER_BYTES,
  })
  let gathering: NodeJS.Timeout | undefined
  const output: DestinationStream = {
    write: (line) => {
      destination.write(line)
      gathering ??= setTimeout(() => {
        gathering = undefined
        destination.flush()
      }, GATHER_MS)
    },
  }
  destination.on('drop', () => dropped++)
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
    flush: () => {
      if (!stream) destination.flushSync()
    },
  }
}

/** Messages of the database and of parsers may quote what a client sent. */
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
