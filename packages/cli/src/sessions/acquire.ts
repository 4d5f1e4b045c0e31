import type { Context } from '../command/context.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { Failure } from '../basics/failure.ts'
import { print } from '../output/print.ts'

export async function run(context: Context): Promise<void> {
  const { api, input, terminal, format } = context
  const answer = await (await api()).call('acquireBrowser', { params: input.params, body: input.body })
  if (answer === null) {
    if (format === 'json' || format === 'yaml') await print(terminal, null, { format })
    throw new Failure('No browser of the pool became free in time', {
      exitCode: exitCodes.timedOut,
      remedy:
        'Wait longer with --timeout, release a browser, or make the pool larger with "berth pools update"',
    })
  }
  await print(terminal, answer, { format })
}
