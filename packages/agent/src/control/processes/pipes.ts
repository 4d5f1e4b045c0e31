// Pipes between the agent and a program. Node's own are sockets, which a program cannot reopen as
// /dev/stdout, /dev/stderr or /dev/stdin, as shell scripts do. Node cannot create real pipes. A line of Perl,
// which every Debian has, creates several, and the agent opens them before Perl exits. Fifos would not work: a
// reader that opens one after its writer is gone waits forever.
import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { spawnAsUser } from '../../user/user.ts'

const MADE_AT_ONCE = 24
/** The number of pipes one program needs. */
const MAX_AT_ONCE = 3
/** Prints the descriptors of the pipes, and waits until the agent has opened them. */
const MAKE =
  'pipe($r[$_], $w[$_]) for 1..$ARGV[0]; syswrite STDOUT, join(" ", map { fileno $r[$_] } 1..$ARGV[0])."\\n"; <STDIN>'

const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants

export interface Pipe {
  readonly ours: Socket
  /** The program's descriptor; the agent closes it once the program has it. */
  readonly theirs: number
}

export class Pipes {
  /** One descriptor of each unused pipe, from which both ends are opened. */
  readonly #ready: number[] = []
  #making: Promise<void> | undefined

  /** Outputs, which the program writes to, come first. */
  async open(wanted: { readonly outputs: number; readonly inputs: number }): Promise<OpenPipes> {
    const count = wanted.outputs + wanted.inputs
    while (this.#ready.length < count) await this.#make()
    const taken = this.#ready.splice(0, count)
    if (this.#ready.length < MAX_AT_ONCE) this.#make().catch(() => {})
    try {
      return new OpenPipes(
        taken.map((descriptor, index) => (index < wanted.outputs ? openOutput : openInput)(descriptor)),
      )
    } finally {
      taken.forEach(closeSync)
    }
  }

  #make(): Promise<void> {
    this.#making ??= this.#makeMore().finally(() => (this.#making = undefined))
    return this.#making
  }

  async #makeMore(): Promise<void> {
    const child = spawnAsUser('/usr/bin/perl', ['-e', MAKE, String(MADE_AT_ONCE)], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
    })
    // Both are missing when no descriptor is left.
    const { stdin, stdout } = child as Partial<typeof child>
    stdin?.on('error', () => {})
    const line = await new Promise<string>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`Cannot make pipes: perl ended with code ${code}`)))
      // Written in one go, and short enough to be read in one go.
      stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString()))
    })
    try {
      for (const number of line.trim().split(' ')) {
        this.#ready.push(openSync(`/proc/${child.pid}/fd/${number}`, O_RDWR))
      }
    } finally {
      stdin?.destroy()
    }
  }
}

export class OpenPipes {
  readonly #pipes: readonly Pipe[]

  constructor(pipes: readonly Pipe[]) {
    this.#pipes = pipes
  }

  get ours(): readonly Socket[] {
    return this.#pipes.map(({ ours }) => ours)
  }

  get theirs(): readonly number[] {
    return this.#pipes.map(({ theirs }) => theirs)
  }

  /** Call once the program has its ends, or failed to start. */
  handedOver(): void {
    for (const { theirs } of this.#pipes) closeSync(theirs)
  }

  destroy(): void {
    for (const { ours } of this.#pipes) ours.destroy()
  }
}

// Each end is opened separately: the program's must block, as programs expect, and the agent's must not.
function openOutput(descriptor: number): Pipe {
  const path = `/proc/self/fd/${descriptor}`
  const ours = new Socket({ fd: openSync(path, O_RDONLY | O_NONBLOCK), readable: true, writable: false })
  return { ours, theirs: openSync(path, O_WRONLY) }
}

function openInput(descriptor: number): Pipe {
  const path = `/proc/self/fd/${descriptor}`
  const theirs = openSync(path, O_RDONLY)
  return {
    ours: new Socket({ fd: openSync(path, O_WRONLY | O_NONBLOCK), readable: false, writable: true }),
    theirs,
  }
}
