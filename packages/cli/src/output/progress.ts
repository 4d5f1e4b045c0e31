// Progress of long work, on stderr. On a terminal a spinner turns; otherwise each step is one line.
import type { Terminal } from './terminal.ts'

export interface Progress {
  /** What happens now. */
  step(text: string): void
  /** It is done. The text stays. */
  done(text: string): void
  failed(text: string): void
  /** Ends without a word. */
  clear(): void
}

export async function progress(terminal: Terminal, text: string): Promise<Progress> {
  if (terminal.isQuiet) return { step() {}, done() {}, failed() {}, clear() {} }
  if (!terminal.err.isTTY) {
    const say = (line: string) => terminal.err.write(`${line}\n`)
    say(text)
    return { step: say, done: say, failed: say, clear() {} }
  }
  const { spinner } = await import('@clack/prompts')
  const turning = spinner({ output: terminal.err, withGuide: false })
  turning.start(text)
  return {
    step: (line) => turning.message(line),
    done: (line) => turning.stop(line),
    failed: (line) => turning.error(line),
    clear: () => turning.clear(),
  }
}
