// A terminal for one program. Node can open the master but cannot unlock the other side. A few lines of Perl,
// which every Debian has, do that and then become the program: no process stays in between, and the exit code
// and signals are the program's own.
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { getSystemErrorName } from 'node:util'
import { ControlError } from '../calls/operation.ts'
import { cannotRun, checkRunnable, type Program } from './program.ts'
import { startProgram, type StartedProgram } from './start-program.ts'
import { spawnAsUser } from '../../user/user.ts'

export interface TerminalSize {
  readonly rows: number
  readonly cols: number
}

const PERL = '/usr/bin/perl'
// Descriptor 3 is the master. The system closes 4 when the program starts; otherwise the reason is written to
// it. Variables are passed as arguments, because in Perl's own environment they could change what Perl does.
// Perl leads the session, so opening the terminal makes it the controlling one.
const BECOME = `
my ($rows, $cols, $count, @command) = @ARGV;
%ENV = map { split /=/, $_, 2 } splice @command, 0, $count;
open(my $told, '>&=', 4) or exit 127;
fcntl($told, 2, 1) or exit 127;
sub fail { syswrite $told, int($!); exit 127 }
open(my $master, '+<&=', 3) or fail;
my $number = pack('i', 0);
ioctl($master, 0x40045431, $number) or fail;
ioctl($master, 0x80045430, $number) or fail;
open(my $terminal, '+<', '/dev/pts/' . unpack('i', $number)) or fail;
my $size = pack('S4', $rows, $cols, 0, 0);
ioctl($terminal, 0x5414, $size) or fail;
close $master;
open(STDIN, '<&', $terminal) && open(STDOUT, '>&', $terminal) && open(STDERR, '>&', $terminal) or fail;
close $terminal;
exec { $command[0] } @command or fail;
`

const RESIZE = `
open(my $terminal, '+<', $ARGV[0]) or exit 1;
my $size = pack('S4', $ARGV[1], $ARGV[2], 0, 0);
ioctl($terminal, 0x5414, $size) or exit 1;
`

export class Terminal {
  /** The program's output and input. */
  readonly stream: ReadStream
  readonly #path: string

  private constructor(master: number) {
    const index = /^tty-index:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${master}`, 'utf8'))?.[1]
    this.#path = `/dev/pts/${index}`
    // Not imported: few instances need it.
    this.stream = new (process.getBuiltinModule('node:tty').ReadStream)(master)
    // The last program that had it open has ended; that is a normal end.
    this.stream.on('error', () => this.stream.destroy())
  }

  /** Resolves when the program runs. */
  static async start(
    program: Program,
    { rows, cols }: TerminalSize,
  ): Promise<{ started: StartedProgram; terminal: Terminal }> {
    checkRunnable(program)
    const master = openMaster()
    const variables = Object.entries({ TERM: 'xterm-256color', ...program.environment })
    const args = ['-e', BECOME, '--', String(rows), String(cols), String(variables.length)]
    args.push(...variables.map(([name, value]) => `${name}=${value}`), program.file, ...program.args)
    let started: StartedProgram
    try {
      const becoming = { ...program, file: PERL, args, environment: {} }
      started = await startProgram(becoming, ['ignore', 'ignore', 'ignore', master, 'pipe'])
    } catch (error) {
      closeSync(master)
      throw error
    }
    const terminal = new Terminal(master)
    const failure = await textOf(started.stdio[4] as Readable)
    if (failure === '') return { started, terminal }
    terminal.stream.destroy()
    throw cannotRun(program, getSystemErrorName(-Number(failure)))
  }

  async resize({ rows, cols }: TerminalSize): Promise<void> {
    // Not with stty, which sets rows and columns one after the other.
    const args = ['-e', RESIZE, '--', this.#path, String(rows), String(cols)]
    const child = spawnAsUser(PERL, args, { stdio: 'ignore', env: {} })
    const isDone = await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false))
      child.once('exit', (code) => resolve(code === 0))
    })
    if (!isDone) throw new ControlError('conflict', 'Cannot resize the terminal: it is about to end')
  }
}

function openMaster(): number {
  try {
    return openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ControlError('conflict', `Cannot make a terminal: the system refuses it with ${code}`)
  }
}

async function textOf(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream as AsyncIterable<Buffer>) text += chunk.toString()
  return text
}
