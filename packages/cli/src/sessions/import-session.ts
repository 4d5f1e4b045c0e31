import { importRequestOf } from '../api/session-file.ts'
import { firstArg, type Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'
import { fileFor } from '../files/source.ts'
import { print } from '../output/print.ts'
import { wait } from './wait-for-login.ts'

interface Imported {
  readonly left_out: readonly { readonly domain: string; readonly name?: string; readonly reason: string }[]
  readonly left_out_count: number
}

/** Enough to see what is missing. */
const MAX_SHOWN = 5

export async function run(context: Context): Promise<void> {
  const { args, input, options, terminal, format } = context
  const path = args[1] as string
  const text = await (await fileFor(path)).text()
  let body: object
  try {
    body = importRequestOf(text)
  } catch (error) {
    throw usage(`Cannot import ${path}: ${(error as Error).message}`)
  }
  const api = await context.api()
  const answer = await api.call<Imported>('importAuthConnectionSession', {
    params: { ...input.params, id: firstArg(context) },
    body,
  })
  const { left_out: leftOut, left_out_count: count } = answer
  if (count > 0) {
    const some = leftOut
      .slice(0, MAX_SHOWN)
      .map(
        ({ domain, name, reason }) =>
          `${name ? `${name} of ` : ''}${domain} (${reason.replaceAll('_', ' ')})`,
      )
    terminal.note(`Left out ${count}: ${some.join(', ')}${count > some.length ? ', …' : ''}`)
  }
  const shown = options['wait'] === true ? await wait(context, answer) : answer
  await print(terminal, shown, { format })
}
