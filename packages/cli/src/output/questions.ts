// Questions to a person, on stderr, so that stdout stays free for answers.
import { usage, Failure, Interrupted } from '../basics/failure.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface Question {
  /** What happens, such as: Delete profile "x"? */
  readonly question: string
  readonly isYes: boolean
  /** Without a terminal: go on, instead of failing and naming the flag. */
  readonly goesOnWithoutTerminal?: boolean
}

export async function confirm(
  terminal: Terminal,
  { question, isYes, goesOnWithoutTerminal }: Question,
): Promise<void> {
  if (isYes) return
  if (!terminal.isInteractive) {
    if (goesOnWithoutTerminal) return
    throw usage(`Cannot ask "${question}": there is no terminal`, 'Say yes with --yes')
  }
  const prompts = await import('@clack/prompts')
  const answer = await prompts.confirm({ message: question, initialValue: false, output: terminal.err })
  if (prompts.isCancel(answer)) throw new Interrupted('cancelled')
  if (!answer) throw new Failure('Nothing was changed', { exitCode: exitCodes.declined })
}

export async function askSecret(terminal: Terminal, message: string): Promise<string> {
  const prompts = await import('@clack/prompts')
  return answered(prompts, await prompts.password({ message, output: terminal.err }))
}

export async function askText(
  terminal: Terminal,
  { message, initial }: { message: string; initial?: string },
): Promise<string> {
  const prompts = await import('@clack/prompts')
  return answered(
    prompts,
    await prompts.text({
      message,
      output: terminal.err,
      ...(initial !== undefined && { initialValue: initial, placeholder: initial }),
    }),
  )
}

export async function askOne(
  terminal: Terminal,
  { message, options }: { message: string; options: readonly { value: string; hint?: string }[] },
): Promise<string> {
  const prompts = await import('@clack/prompts')
  const choices = options.map(({ value, hint }) => ({ value, label: value, ...(hint && { hint }) }))
  return answered(prompts, await prompts.select({ message, options: choices, output: terminal.err }))
}

function answered(prompts: { isCancel(value: unknown): boolean }, answer: string | symbol): string {
  if (prompts.isCancel(answer)) throw new Interrupted('cancelled')
  return answer as string
}
