// A pseudo-terminal with a person in front of it: tmux shows what a terminal would show, and types.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'

export interface Screen {
  /** What is visible, without the blanks at the ends of lines; `colours` keeps the escape sequences. */
  read(options?: { colours?: boolean }): string
  /** Types text as it is. */
  type(text: string): void
  /** Presses keys by their names in tmux, such as Enter or C-c. */
  press(...keys: string[]): void
  resize(columns: number, rows: number): void
  /** Forgets what it shows, at once, so that nothing older is taken for what comes. */
  clear(): void
  /** Waits until it shows this. */
  shows(what: RegExp, withinMs?: number): Promise<string>
}

export interface ScreenOptions {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly columns?: number
  readonly rows?: number
  /** The program in it. */
  readonly shell?: readonly string[]
}

const BASH = ['bash', '--norc', '--noprofile']

const WITHIN_MS = 30_000

/** With a shell in it, whose prompt is `$ `. */
export function openScreen(
  owner: Owner,
  { env, cwd, columns = 100, rows = 30, shell = BASH }: ScreenOptions,
): Screen {
  const socket = `berth-test-${randomUUID()}`
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8', env: { ...env } })
  tmux(
    'new-session',
    '-d',
    '-s',
    'test',
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    cwd,
    'env',
    'PS1=$ ',
    ...shell,
  )
  cleanUpAfter(owner, () => void tmux('kill-server'))
  const read: Screen['read'] = ({ colours = false } = {}) =>
    tmux('capture-pane', '-p', '-t', 'test', ...(colours ? ['-e'] : [])).trimEnd()
  return {
    read,
    type: (text) => void tmux('send-keys', '-t', 'test', '-l', text),
    press: (...keys) => void tmux('send-keys', '-t', 'test', ...keys),
    resize: (width, height) =>
      void tmux('resize-window', '-t', 'test', '-x', String(width), '-y', String(height)),
    clear: () => void tmux('send-keys', '-R', '-t', 'test'),
    async shows(what, withinMs = WITHIN_MS) {
      let seen = ''
      try {
        await eventually(
          `the screen shows ${String(what)}`,
          () => Promise.resolve(what.test((seen = read()))),
          withinMs,
        )
      } catch (error) {
        throw new Error(`${(error as Error).message}; it shows:\n${seen}`, { cause: error })
      }
      return seen
    },
  }
}
