import type { Context } from '../command/context.ts'
import { print } from '../output/print.ts'
import { write } from '../output/terminal.ts'

interface Status {
  readonly status: string
  readonly groups: readonly {
    readonly name: string
    readonly status: string
    readonly components: readonly { readonly name: string; readonly status: string }[]
  }[]
}

const COLOURS: Readonly<Record<string, 'green' | 'yellow' | 'red' | 'blue'>> = {
  operational: 'green',
  degraded_performance: 'yellow',
  partial_outage: 'red',
  full_outage: 'red',
  maintenance: 'blue',
}

export async function run({ api, terminal, format }: Context): Promise<void> {
  const status = await (await api()).call<Status>('getStatus')
  if (format === 'json' || format === 'yaml') return print(terminal, status, { format })
  const shown = (value: string) => {
    const colour = COLOURS[value]
    const text = value.replaceAll('_', ' ')
    return colour === undefined ? text : terminal.paint(colour, text)
  }
  await write(terminal.out, `${shown(status.status)}\n`)
  for (const { name, components } of status.groups) {
    await write(terminal.out, `\n${terminal.paint('bold', name)}\n`)
    const width = Math.max(...components.map((each) => each.name.length))
    for (const each of components)
      await write(terminal.out, `  ${each.name.padEnd(width)}  ${shown(each.status)}\n`)
  }
}
