// What the streams of this process are, and the colours on them.
import { styleText } from 'node:util'

type Format = Parameters<typeof styleText>[0]
type Paint = (style: Format, text: string) => string

export interface Terminal {
  readonly out: NodeJS.WriteStream
  readonly err: NodeJS.WriteStream
  /** A person can answer questions. */
  readonly isInteractive: boolean
  readonly isQuiet: boolean
  /** Columns of stdout; undefined if it is not a terminal: then nothing is cut. */
  readonly columns: number | undefined
  readonly paint: Paint
  readonly paintError: Paint
  /** Something that a person wants to know, on stderr. */
  readonly note: (text: string) => void
}

export interface TerminalOptions {
  readonly isQuiet?: boolean
  readonly hasColour?: boolean
  readonly env?: NodeJS.ProcessEnv
}

export function terminal({
  isQuiet = false,
  hasColour = true,
  env = process.env,
}: TerminalOptions = {}): Terminal {
  const { stdin, stdout: out, stderr: err } = process
  const painter = (stream: NodeJS.WriteStream) => {
    const isColoured = hasColour && stream.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
    return (style: Format, text: string) =>
      isColoured ? styleText(style, text, { validateStream: false }) : text
  }
  const paintError = painter(err)
  return {
    out,
    err,
    isInteractive: stdin.isTTY && err.isTTY,
    isQuiet,
    columns: out.isTTY ? out.columns : undefined,
    paint: painter(out),
    paintError,
    note(text) {
      if (!isQuiet) err.write(`${text}\n`)
    },
  }
}

/** Waits while the reader is slow, and ends quietly when it is gone, as `| head` does. */
export async function write(stream: NodeJS.WriteStream, data: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.write(data, (error) => {
      if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error)
      else resolve()
    })
  })
}
