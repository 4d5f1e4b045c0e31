// What is the same for every command of one start.
import type { Api } from '../api/api.ts'
import type { Terminal } from '../output/terminal.ts'

export interface Globals {
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly contextName: string | undefined
  readonly api: () => Promise<Api>
}
