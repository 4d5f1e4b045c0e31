import type { Context } from '../command/context.ts'
import { addressOf, unknownContext } from '../contexts/choose.ts'
import { checkName, putContext, readContexts, writeContexts } from '../contexts/store.ts'
import { usage } from '../basics/failure.ts'
import { print } from '../output/print.ts'
import { confirm } from '../output/questions.ts'
import { checkKey, masked, readKey } from './key.ts'

export async function run(context: Context): Promise<void> {
  switch (context.verb.name) {
    case 'list':
      return list(context)
    case 'use':
      return use(context)
    case 'add':
      return add(context)
    case 'delete':
      return remove(context)
    default:
      return show(context)
  }
}

async function list({ terminal, format }: Context): Promise<void> {
  const { current, contexts } = await readContexts()
  const isText = format === 'table' || format === 'wide'
  const rows = Object.entries(contexts).map(([name, { url, key, project }]) => ({
    current: isText ? (name === current ? '*' : '') : name === current,
    name,
    url,
    project: project ?? null,
    key: key === undefined ? null : masked(key),
  }))
  await print(terminal, rows, {
    format,
    columns: 'name current url project key',
    none: 'There are no contexts; add one with "berth login"',
  })
}

async function show({ terminal }: Context): Promise<void> {
  const { current } = await readContexts()
  if (current === undefined) terminal.note('There is no context; add one with "berth login"')
  else terminal.out.write(`${current}\n`)
}

async function use({ args, terminal }: Context): Promise<void> {
  const name = args[0] as string
  const { contexts } = await readContexts()
  if (!(name in contexts)) throw unknownContext(name, contexts)
  await writeContexts({ current: name, contexts })
  terminal.note(`Commands go to ${contexts[name]!.url} from now on`)
}

async function add({ args, options, terminal, signal }: Context): Promise<void> {
  const [name, address] = args as [string, string]
  checkName(name)
  const url = addressOf(address)
  const { contexts } = await readContexts()
  if (name in contexts)
    throw usage(`Cannot add "${name}": there is one`, `Delete it first: berth context delete ${name}`)
  const key = await readKey(terminal, { fromStdin: options['keyStdin'] === true, url })
  await checkKey({ url, key, project: undefined, from: '' }, signal)
  const project = options['defaultProject'] as string | undefined
  await putContext(
    name,
    { url, key, ...(project !== undefined && { project }) },
    { isCurrent: options['use'] === true },
  )
  terminal.note(`Added "${name}" for ${url}`)
}

async function remove({ args, terminal, isYes }: Context): Promise<void> {
  const name = args[0] as string
  const { current, contexts } = await readContexts()
  if (!(name in contexts)) throw unknownContext(name, contexts)
  await confirm(terminal, { question: `Forget "${name}" and its key?`, isYes, goesOnWithoutTerminal: true })
  const { [name]: _gone, ...rest } = contexts
  const next = current === name ? Object.keys(rest)[0] : current
  await writeContexts({ ...(next !== undefined && { current: next }), contexts: rest })
  terminal.note(
    `Forgot "${name}"${next !== undefined && current === name ? `; the current context is "${next}" now` : ''}`,
  )
}
