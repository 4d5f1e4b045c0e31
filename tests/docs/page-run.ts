// Runs the blocks of one page in order: all TypeScript in one program and all shell blocks in one shell, like a reader
// who has both open.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPrinted, type Block } from './blocks.ts'

const BLOCK_TIMEOUT_MS = 60_000
/** Printed by both processes when a block is over; no block prints it. */
const STEP = '\u0001step\u0001'

export interface Place {
  /** Where the blocks run and files are written. */
  readonly directory: string
  readonly clone: string
  readonly env: Readonly<Record<string, string>>
  /** Replaces what a page shows with what runs in the tests. */
  standIn(code: string): string
}

export class PageRun {
  readonly #place: Place
  readonly #blocks: readonly Block[]
  #program: Steps | undefined
  #shell: Steps | undefined

  constructor(blocks: readonly Block[], place: Place) {
    this.#blocks = blocks
    this.#place = place
  }

  async run(block: Block): Promise<void> {
    if (block.kind === 'config' || block.kind === 'start') return
    if (block.kind === 'file') return this.#write(block.fileName!, block.code)
    const steps = block.language === 'ts' ? this.#startProgram() : this.#startShell()
    const printed = await steps.take(block.at, () => this.#commandOf(block))
    if (block.output === undefined || isPrinted(this.#place.standIn(block.output), printed)) return
    throw new Error(`${block.at} printed\n\n${printed}\ninstead of\n\n${block.output}`)
  }

  stop(): void {
    this.#program?.stop()
    this.#shell?.stop()
  }

  #write(name: string, code: string): void {
    const path = join(this.#place.directory, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${this.#place.standIn(code)}\n`)
  }

  /** The text that makes the process run the block. */
  #commandOf(block: Block): string {
    if (block.language === 'ts') return '\n'
    const { directory, clone } = this.#place
    const name = `.block-${block.at.replaceAll(/\W/g, '-')}.sh`
    const check = block.check === undefined ? '' : `\n${this.#place.standIn(block.check)} >&2`
    this.#write(name, this.#place.standIn(block.code) + check)
    const file = `'${join(directory, name)}'`
    const command = block.runsInClone ? `(cd '${clone}'; . ${file})` : `. ${file}`
    return `${command} </dev/null\nprintf '\\001step\\001'\n`
  }

  #startShell(): Steps {
    const { directory, env } = this.#place
    if (this.#shell) return this.#shell
    // A command that fails ends the shell, and an answer of 400 or above is a failure of curl.
    const child = spawn('bash', ['-s', '-euo', 'pipefail'], { cwd: directory, env })
    child.stdin.write('curl() { command curl -sS --fail-with-body "$@"; }\n')
    this.#shell = new Steps(child)
    return this.#shell
  }

  #startProgram(): Steps {
    if (this.#program) return this.#program
    const { directory, env } = this.#place
    const file = join(directory, 'page.ts')
    writeFileSync(
      file,
      programOf(this.#blocks, (code) => this.#place.standIn(code)),
    )
    this.#program = new Steps(spawn(process.execPath, [file], { cwd: directory, env }))
    return this.#program
  }
}

/** All TypeScript of a page in one program, which waits before each block. */
export function programOf(blocks: readonly Block[], standIn: (code: string) => string): string {
  const parts = blocks
    .filter(({ kind, language }) => kind === 'run' && language === 'ts')
    .map(({ at, code, check }) => {
      const verdict =
        check === undefined
          ? ''
          : `\nif (!(${check})) throw new Error(${JSON.stringify(`${at}: not so: ${check}`)})`
      return `await nextStep()\n${standIn(code + verdict)}\nprocess.stdout.write(${JSON.stringify(STEP)})\n`
    })
  return `${PROGRAM_HEAD}\n${parts.join('\n')}process.exit()\n`
}

/** One line on standard input lets the program continue with its next block. */
const PROGRAM_HEAD = `import { createInterface as __lines } from 'node:readline'
const __input = __lines({ input: process.stdin })[Symbol.asyncIterator]()
const nextStep = () => __input.next()
`

/** A process that runs one block after another. */
class Steps {
  readonly #child: ChildProcess
  #printed = ''
  #errors = ''
  #end: string | undefined
  #wake: () => void = () => {}

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdin!.on('error', () => {})
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text
      this.#wake()
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#errors += text))
    child.once('close', (code, signal) => {
      this.#end = `ended with ${signal ?? code}`
      this.#wake()
    })
  }

  /** Runs a block and returns what it printed. */
  async take(at: string, command: () => string): Promise<string> {
    this.#child.stdin!.write(command())
    const deadline = setTimeout(() => {
      this.#end ??= `did not end within ${BLOCK_TIMEOUT_MS} ms`
      this.#wake()
    }, BLOCK_TIMEOUT_MS)
    try {
      while (!this.#printed.includes(STEP)) {
        if (this.#end !== undefined)
          throw new Error(`${at} ${this.#end}\n${this.#printed}\n${this.#errors}`.trimEnd())
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      clearTimeout(deadline)
    }
    const end = this.#printed.indexOf(STEP)
    const printed = this.#printed.slice(0, end)
    this.#printed = this.#printed.slice(end + STEP.length)
    return printed
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}
