// What may come next on a command line: commands, flags, values of flags, and names of what there is.
import type { Command, Option } from 'commander'
import { findOperation } from './api/operations.ts'
import { nouns } from './nouns.ts'
import { isNoun, type Noun, type Verb } from './command/rows.ts'
import { makeProgram, nounIn } from './program.ts'

const NAMES_TIMEOUT_MS = 1_500
const MAX_NAMES = 100

/** `words`: those before the cursor; the last one is what is being typed. One suggestion in a line, then a tab and what it is. */
export async function complete(words: readonly string[]): Promise<string> {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const program = await makeProgram(async () => {}, nounIn(before))
  const { command, path, count } = walk(program, before)
  const pending = valueOf(command, before.at(-1))
  const found =
    pending === undefined
      ? typed.startsWith('-')
        ? flagsOf(command)
        : [...commandsOf(command), ...(command === program ? [] : await namesFor(path, count))]
      : choicesOf(pending)
  return found
    .filter(([word]) => word.startsWith(typed))
    .map(([word, about]) => `${word}\t${about}\n`)
    .join('')
}

type Suggestion = readonly [word: string, about: string]

function walk(
  program: Command,
  words: readonly string[],
): { command: Command; path: string[]; count: number } {
  let command = program
  const path: string[] = []
  let count = 0
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word.startsWith('-')) {
      if (valueOf(command, word) !== undefined) at++
      continue
    }
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (next && count === 0) {
      command = next
      path.push(next.name())
    } else count++
  }
  return { command, path, count }
}

/** The option that waits for a value. */
function valueOf(command: Command, word: string | undefined): Option | undefined {
  if (word === undefined || !word.startsWith('-') || word.includes('=')) return undefined
  return command.options.find(({ long, short, required }) => required && (long === word || short === word))
}

const visible = (command: Command) => command.createHelp().visibleCommands(command)

const commandsOf = (command: Command): Suggestion[] =>
  visible(command).map((each) => [each.name(), each.summary() || each.description()])

const flagsOf = (command: Command): Suggestion[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => [long ?? short!, description])

/** Flags that take one of a few words say so at the end of their text. */
function choicesOf({ long, description }: Option): Suggestion[] {
  if (long === '--output' || long === '--format')
    return ['json', 'table', 'wide', 'yaml'].map((word) => [word, ''])
  const words = /: ([a-z_0-9./-]+(?:, [a-z_0-9./-]+)+)$/i.exec(description)?.[1]
  return (words?.split(', ') ?? []).map((word) => [word, ''])
}

/** Names and ids for the first argument, from the list of the noun. The shell waits, so a slow server is not asked long. */
async function namesFor(path: readonly string[], count: number): Promise<Suggestion[]> {
  if (path[0] === 'context') return contextNames(path, count)
  const found = await listFor(path)
  if (found === undefined || count > 0 || !found.takesName) return []
  try {
    const [{ chooseServer }, { Api }] = await Promise.all([
      import('./contexts/choose.ts'),
      import('./api/api.ts'),
    ])
    const server = await chooseServer({})
    if (server.key === undefined) return []
    const api = new Api(server, AbortSignal.timeout(NAMES_TIMEOUT_MS))
    const { items } = await api.page(found.list.op!, { query: { limit: MAX_NAMES }, maxRetries: 0 })
    return (items as Record<string, string | undefined>[]).flatMap((item) => {
      const id = item['session_id'] ?? item['id']
      return [item['app_name'] ?? item['name'] ?? id]
        .filter((word) => word !== undefined)
        .map((word) => [word, id ?? ''] as const)
    })
  } catch {
    return []
  }
}

async function contextNames(path: readonly string[], count: number): Promise<Suggestion[]> {
  if (count > 0 || !['use', 'delete'].includes(path[1] ?? '')) return []
  const { readContexts } = await import('./contexts/store.ts')
  return Object.entries((await readContexts().catch(() => ({ contexts: {} }))).contexts).map(
    ([name, { url }]) => [name, url],
  )
}

/** The nouns below `browsers` are about a session, so they take the name of one. */
async function listFor(path: readonly string[]): Promise<{ list: Verb; takesName: boolean } | undefined> {
  const entry = nouns.find(({ name }) => name === path[0])
  if (entry === undefined) return undefined
  const { noun } = await entry.load()
  const row = rowAt(noun, path.slice(1))
  if (row === undefined || isNoun(row)) return undefined
  const isOfSession = row.op !== undefined && findOperation(row.op).path.startsWith('/browsers/{id}')
  // Those of a session are about one that there is: `replays list SESSION`, `handover create SESSION`.
  if (!isOfSession && (row.name === 'list' || row.name === 'create')) return undefined
  const owner = isOfSession ? (await import('./nouns/browsers.ts')).browsers : parentOf(noun, path.slice(1))
  const list = owner.verbs.find((each): each is Verb => !isNoun(each) && each.name === 'list')
  if (list?.op === undefined || findOperation(list.op).params.length > 0) return undefined
  return { list, takesName: /^<|^\[/.test(row.args ?? '<') }
}

function rowAt(noun: Noun, path: readonly string[]): Noun | Verb | undefined {
  let row: Noun | Verb | undefined = noun
  for (const name of path) row = row && isNoun(row) ? row.verbs.find((each) => each.name === name) : undefined
  return row
}

function parentOf(noun: Noun, path: readonly string[]): Noun {
  const row = rowAt(noun, path.slice(0, -1))
  return row && isNoun(row) ? row : noun
}
