// Events of deployments and invocations, as people and programs read them.
import type { Context } from '../command/context.ts'
import { printLine } from '../output/print.ts'
import { harmless, localTime } from '../output/value-text.ts'
import { write } from '../output/terminal.ts'

export interface AppEvent {
  readonly event: string
  readonly timestamp: string
  readonly message?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly deployment?: { readonly id: string; readonly status: string; readonly status_reason?: string }
  readonly invocation?: Invocation
  readonly app_name?: string
  readonly version?: string
  readonly actions?: readonly { readonly name: string }[]
}

export interface Invocation {
  readonly id: string
  readonly status: string
  readonly status_reason?: string
  readonly output?: string
}

export const isJson = ({ format }: Pick<Context, 'format'>) => format === 'json' || format === 'yaml'

/** One line of a log, which an app wrote: what would move the cursor is taken out, colours stay. */
export async function printLog(
  { terminal, options }: Pick<Context, 'terminal' | 'options'>,
  { message = '', timestamp }: AppEvent,
): Promise<void> {
  const at = options['withTimestamps'] === true ? `${terminal.paint('dim', localTime(timestamp))} ` : ''
  await write(terminal.out, `${at}${harmless(message.replaceAll('\n', ' '))}\n`)
}

export async function printEvent(context: Context, event: AppEvent): Promise<void> {
  await printLine(context.terminal, event)
}
