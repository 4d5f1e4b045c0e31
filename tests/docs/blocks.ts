// Reads the code blocks of a Markdown page, each with what the page says about it.
//
// The word after the language says what a block is:
//
//   ts run             run as part of the page's program: all such blocks of a page share their variables
//   sh run             run in the page's shell; `sh run clone`: in a clone of the repository
//   sh start           the command that starts the server which all pages use
//   json file=a.json   written to the working directory under this name, for the blocks after it
//   text output        what the block above prints; `…` stands for anything
//   ini config         shown only
//
// A block that runs is followed by its output, or by a comment that says how to tell that it worked:
// <!-- check: expression --> after TypeScript, <!-- check: command --> after a shell block.

export interface Block {
  /** Such as `docs/sessions.md:12`. */
  readonly at: string
  readonly language: string
  readonly kind: 'run' | 'start' | 'file' | 'config'
  readonly code: string
  /** Of a file. */
  readonly fileName?: string
  readonly runsInClone: boolean
  readonly output?: string
  readonly check?: string
}

const FENCE = /^(\s*)```(.*)$/
const CHECK = /^<!-- check: (.*) -->$/

export function blocksOf(page: string, markdown: string): Block[] {
  const blocks: Block[] = []
  const lines = markdown.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    const check = CHECK.exec(line.trim())
    if (check) {
      addTo(blocks, `${page}:${index + 1}`, 'check', check[1]!)
      continue
    }
    const fence = FENCE.exec(line)
    if (!fence) continue
    const at = `${page}:${index + 1}`
    const end = lines.findIndex((each, later) => later > index && each.trim() === '```')
    if (end === -1) throw new Error(`${at}: the code block does not end`)
    const indent = fence[1]!.length
    const code = lines
      .slice(index + 1, end)
      .map((each) => each.slice(indent))
      .join('\n')
    index = end
    const [language = '', ...words] = fence[2]!.trim().split(/\s+/)
    if (words[0] === 'output') addTo(blocks, at, 'output', code)
    else blocks.push({ at, language, code, ...meaningOf(at, language, words) })
  }
  for (const block of blocks) {
    if (block.kind === 'run' && block.output === undefined && block.check === undefined) {
      throw new Error(
        `${block.at}: nothing tells whether the block worked; add its output or <!-- check: … --> below it`,
      )
    }
  }
  return blocks
}

function meaningOf(
  at: string,
  language: string,
  words: readonly string[],
): Pick<Block, 'kind' | 'fileName' | 'runsInClone'> {
  const said = words.join(' ')
  const runsInClone = said === 'run clone'
  if ((said === 'run' && ['ts', 'sh'].includes(language)) || (runsInClone && language === 'sh'))
    return { kind: 'run', runsInClone }
  if (said === 'start' && language === 'sh') return { kind: 'start', runsInClone: true }
  if (said === 'config') return { kind: 'config', runsInClone }
  if (words.length === 1 && said.startsWith('file='))
    return { kind: 'file', fileName: said.slice('file='.length), runsInClone }
  throw new Error(
    `${at}: a block of ${language || 'no language'} must say what it is: run, run clone, start, file=NAME, output or config; it says "${said}"`,
  )
}

function addTo(blocks: Block[], at: string, what: 'output' | 'check', text: string): void {
  const last = blocks.at(-1)
  if (last?.kind !== 'run') throw new Error(`${at}: there is no block above that the ${what} belongs to`)
  if (last.output !== undefined || last.check !== undefined)
    throw new Error(`${at}: the block above has its output or check already`)
  blocks[blocks.length - 1] = { ...last, [what]: text }
}

/** Whether a block printed what its page says; `…` stands for anything, also for nothing. */
export function isPrinted(expected: string, printed: string): boolean {
  const pattern = expected
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join('[^]*?')
  return new RegExp(`^${pattern}$`).test(printed.trim())
}
