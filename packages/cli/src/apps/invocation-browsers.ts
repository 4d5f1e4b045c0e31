import type { Context } from '../command/context.ts'
import { print } from '../output/print.ts'

export async function run({ api, input, terminal, format, columns, wide }: Context): Promise<void> {
  const answer = await (
    await api()
  ).call<{ browsers: unknown[] }>('listInvocationBrowsers', { params: input.params })
  const isText = format === 'table' || format === 'wide'
  await print(terminal, isText ? answer.browsers : answer, {
    format,
    columns,
    wide,
    none: 'It has no sessions',
  })
}
