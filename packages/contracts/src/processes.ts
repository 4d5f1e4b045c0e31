// Programs that run in an instance. They see what its browser sees, and end with the session.
import { Type } from 'typebox'
import { absolutePath, control, Ok } from './control.ts'
import { Nullable, OneOf, PRINTABLE, resourceId, Strict, Timestamp } from './schema.ts'

const tag = 'Processes'

/** As long as a session may last without anybody there. */
const MAX_SECONDS = 259_200
/** The kernel's own limit for one of them. */
const MAX_ARGUMENT_CHARACTERS = 131_071

/** Each of the two, of what `exec` answers with. */
export const MAX_EXEC_OUTPUT_BYTES = 8 * 1024 * 1024
/** Of the output of one process, and of all together. */
export const MAX_SPOOL_BYTES = 80 * 1024 * 1024
export const MAX_SPOOL_BYTES_OF_ALL = 128 * 1024 * 1024
/** For how long, and of how many, the end of a process can be asked for. */
export const ENDED_KEPT_SECONDS = 3600
export const MAX_ENDED_KEPT = 256
export const MAX_RUNNING = 256

const MB = 1024 * 1024
const megabytes = (bytes: number) => `${bytes / MB} MB`

const start = {
  command: Type.String({
    pattern: PRINTABLE,
    minLength: 1,
    maxLength: 4096,
    examples: ['/bin/true'],
    description: 'Program to run: a path, or a name that is looked for in PATH. Not a line for a shell',
  }),
  args: Type.Optional(
    Type.Array(Type.String({ maxLength: MAX_ARGUMENT_CHARACTERS }), {
      description: 'Arguments, passed on one by one and as they are',
    }),
  ),
  cwd: Type.Optional(Nullable(absolutePath('Directory to run in; the home directory by default'))),
  env: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: MAX_ARGUMENT_CHARACTERS }), {
      description: 'Variables, added to those every program of the instance has',
    }),
  ),
  as_user: Type.Optional(
    Nullable(
      Type.String({
        pattern: '^[A-Za-z0-9_.:-]+$',
        minLength: 1,
        maxLength: 64,
        examples: ['kernel'],
        description:
          'Name, uid or uid:gid to run as. There is one user in an instance, `kernel`; others are refused',
      }),
    ),
  ),
  as_root: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Run as root of a user namespace of its own. It is uid 0 and may do what root may inside that namespace, ' +
        'but what the instance cannot write (such as /usr) it cannot write either. Not together with `as_user`',
    }),
  ),
  timeout_sec: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: MAX_SECONDS,
        description: 'Seconds after which it is ended by KILL, with all its group; 0 or null: never',
      }),
    ),
  ),
}

const terminalSize = (what: string) => Type.Integer({ minimum: 1, maximum: 65_535, description: what })
const exitCode =
  'Its exit code; 128 and the number of the signal, such as 143 for TERM, if it was ended by one'
const processId = { process_id: resourceId('process') }

export const execProcess = control({
  id: 'execProcess',
  tag,
  summary: 'Run a program and wait for its end',
  description:
    'A caller that leaves ends it. An exit code other than 0 is an answer like any other; a program that cannot ' +
    'be run at all is 400, and one that took longer than `timeout_sec` is 422 `process_timed_out`.',
  method: 'POST',
  at: '/process/exec',
  body: Strict(start),
  status: 200,
  response: Type.Object(
    {
      exit_code: Type.Integer({ description: exitCode }),
      stdout_b64: Type.String({
        description: `What it wrote to stdout, in base 64: the first ${megabytes(MAX_EXEC_OUTPUT_BYTES)}, then a line that tells how much is left out`,
      }),
      stderr_b64: Type.String({ description: 'What it wrote to stderr, likewise' }),
      duration_ms: Type.Integer({ description: 'How long it ran' }),
      stdout_dropped_bytes: Type.Optional(
        Type.Integer({ description: 'How much of stdout is left out, if any' }),
      ),
      stderr_dropped_bytes: Type.Optional(
        Type.Integer({ description: 'How much of stderr is left out, if any' }),
      ),
    },
    { title: 'ProcessExecResult' },
  ),
  errors: ['process_timed_out'],
})

export const spawnProcess = control({
  id: 'spawnProcess',
  tag,
  summary: 'Run a program in the background',
  description:
    'While it runs, the session neither times out nor is put on standby. ' +
    'A program that cannot be run at all is 400.',
  method: 'POST',
  at: '/process/spawn',
  body: Strict({
    ...start,
    allocate_tty: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Run it in a terminal. What it writes is on the output stream, and on the websocket ' +
          '`{base_url}/process/{process_id}/attach?jwt=…`: binary messages are data, both ways; ' +
          '`{"type":"resize","rows":24,"cols":80}` as text changes the size, and `{"type":"exit","exit_code":0}` ' +
          'is the last one. Any number may attach; each is sent what is kept from its start',
      }),
    ),
    rows: Type.Optional(terminalSize('Rows of the terminal; 24 by default')),
    cols: Type.Optional(terminalSize('Columns of the terminal; 80 by default')),
  }),
  status: 200,
  response: Type.Object(
    {
      process_id: Type.String({ description: 'Id of the process, a UUID' }),
      pid: Type.Integer({ description: 'Its pid in the instance' }),
      started_at: Timestamp('When it was started'),
    },
    { title: 'SpawnedProcess' },
  ),
})

export const getProcessStatus = control({
  id: 'getProcessStatus',
  tag,
  summary: 'Get the state of a process',
  description: `Known for ${ENDED_KEPT_SECONDS / 60} minutes after its end, for the last ${MAX_ENDED_KEPT} that ended.`,
  method: 'GET',
  at: '/process/{process_id}/status',
  params: processId,
  status: 200,
  response: Type.Object(
    {
      state: OneOf(['running', 'exited'] as const, { description: 'Whether it runs' }),
      exit_code: Nullable(Type.Integer({ description: `${exitCode}. Null while it runs` })),
      cpu_pct: Type.Number({
        description:
          'Percent of one processor that it and its descendants used since the last time this was asked for, ' +
          'or since its start; 0 after its end',
      }),
      mem_bytes: Type.Integer({
        description: 'Resident memory of it and its descendants; 0 after its end',
      }),
      timed_out: Type.Optional(Type.Boolean({ description: 'True if its `timeout_sec` ended it' })),
    },
    { title: 'ProcessStatus' },
  ),
})

export const writeProcessStdin = control({
  id: 'writeProcessStdin',
  tag,
  summary: 'Write to the stdin of a process',
  description:
    'All of it or nothing: a process that has left 1 MB unread for 10 seconds, has ended, or whose stdin is closed, ' +
    'is 409.',
  method: 'POST',
  at: '/process/{process_id}/stdin',
  params: processId,
  body: Strict({
    data_b64: Type.String({
      pattern: '^[A-Za-z0-9+/]*={0,2}$',
      examples: ['aGkK'],
      description: 'What to write, in base 64; may be empty',
    }),
    close: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Closes stdin after it, so that the program sees its end. To a terminal it is sent as Ctrl-D. ' +
          'An extension of this service',
      }),
    ),
  }),
  status: 200,
  response: Type.Object(
    { written_bytes: Type.Integer({ description: 'How many bytes were written' }) },
    { title: 'ProcessStdinResult' },
  ),
})

export const killProcess = control({
  id: 'killProcess',
  tag,
  summary: 'Send a signal to a process',
  description:
    'And to all of its group. Whether it ends is up to the program, except for KILL; if the signal ends it, it is ' +
    '`exited` with 143 after TERM, 137 after KILL, 130 after INT and 129 after HUP. One that has ended is 409.',
  method: 'POST',
  at: '/process/{process_id}/kill',
  params: processId,
  body: Strict({
    signal: Type.Optional(
      OneOf(['TERM', 'KILL', 'INT', 'HUP'] as const, { description: 'The signal', default: 'TERM' }),
    ),
  }),
  bodyOptional: true,
  status: 200,
  response: Ok,
})

export const resizeProcess = control({
  id: 'resizeProcess',
  tag,
  summary: 'Change the size of the terminal of a process',
  description: 'One that has no terminal is 400, one that has ended is 409.',
  method: 'POST',
  at: '/process/{process_id}/resize',
  params: processId,
  body: Strict({ rows: terminalSize('Rows'), cols: terminalSize('Columns') }),
  status: 200,
  response: Ok,
})

export const streamProcessOutput = control({
  id: 'streamProcessOutput',
  tag,
  summary: 'Follow the output of a process',
  description:
    `From the start of what is kept, which are its last ${megabytes(MAX_SPOOL_BYTES)} ` +
    `(${megabytes(MAX_SPOOL_BYTES_OF_ALL)} of all processes together), for any number of readers, to the end: the ` +
    'last event is `exit`. Where a reader missed something, there is an event `cut` with its size. ' +
    'What is written to a terminal is `stdout`.',
  method: 'GET',
  at: '/process/{process_id}/stdout/stream',
  params: processId,
  kind: 'events',
  contentType: 'text/event-stream',
  status: 200,
  response: Type.Object(
    {
      stream: Type.Optional(OneOf(['stdout', 'stderr'] as const, { description: 'Where it was written to' })),
      data_b64: Type.Optional(Type.String({ description: 'What was written, in base 64' })),
      event: Type.Optional(
        OneOf(['exit', 'cut'] as const, {
          description: '`exit`: it has ended. `cut`: what comes next is not what followed',
        }),
      ),
      exit_code: Type.Optional(Type.Integer({ description: exitCode })),
      dropped_bytes: Type.Optional(
        Type.Integer({ minimum: 1, description: 'How much is missing at a `cut`' }),
      ),
    },
    { title: 'ProcessOutputEvent' },
  ),
})
