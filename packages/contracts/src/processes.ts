// Programs that run in an instance. They share its files and network with the browser, and end with the session.
import { Type } from 'typebox'
import { absolutePath, control, Ok } from './control.ts'
import { Nullable, OneOf, PRINTABLE, resourceId, Strict, Timestamp } from './schema.ts'

const tag = 'Processes'

/** The longest possible session timeout. */
const MAX_SECONDS = 259_200
/** The kernel's limit for one argument. */
const MAX_ARGUMENT_CHARACTERS = 131_071

/** Limit for stdout, and for stderr, in the response of `exec`. */
export const MAX_EXEC_OUTPUT_BYTES = 8 * 1024 * 1024
/** Stored output of one process, and of all processes together. */
export const MAX_SPOOL_BYTES = 80 * 1024 * 1024
export const MAX_SPOOL_BYTES_OF_ALL = 128 * 1024 * 1024
/** How long, and for how many ended processes, the exit status stays available. */
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
    description: 'Program to run: a path, or a name to look up in PATH. Not a shell command line',
  }),
  args: Type.Optional(
    Type.Array(Type.String({ maxLength: MAX_ARGUMENT_CHARACTERS }), {
      description: 'Arguments, passed to the program unchanged',
    }),
  ),
  cwd: Type.Optional(Nullable(absolutePath('Working directory; the home directory by default'))),
  env: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: MAX_ARGUMENT_CHARACTERS }), {
      description: 'Environment variables, added to those of the instance',
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
          'User name, uid or uid:gid to run as. An instance only has the user `kernel`; others are rejected',
      }),
    ),
  ),
  as_root: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Run as root (uid 0) of a new user namespace. Root there cannot write what the instance cannot write, such as ' +
        '/usr. Cannot be combined with `as_user`',
    }),
  ),
  timeout_sec: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: MAX_SECONDS,
        description: 'Seconds after which the process and its group get KILL. 0 or null means no limit',
      }),
    ),
  ),
}

const terminalSize = (what: string) => Type.Integer({ minimum: 1, maximum: 65_535, description: what })
const exitCode = 'Exit code. If a signal ended the process: 128 plus the signal number, such as 143 for TERM'
const processId = { process_id: resourceId('process') }

export const execProcess = control({
  id: 'execProcess',
  referenceIds: ['processExec'],
  tag,
  summary: 'Run a program and wait until it ends',
  description:
    'The program ends if the caller disconnects. A non-zero exit code is a normal response. Returns 400 if the program ' +
    'cannot be started, and 422 `process_timed_out` if it runs longer than `timeout_sec`.',
  method: 'POST',
  at: '/process/exec',
  body: Strict(start),
  status: 200,
  response: Type.Object(
    {
      exit_code: Type.Integer({ description: exitCode }),
      stdout_b64: Type.String({
        description: `Standard output in base64: the first ${megabytes(MAX_EXEC_OUTPUT_BYTES)}, then a line that says how much was cut`,
      }),
      stderr_b64: Type.String({ description: 'Standard error in base64, with the same limit' }),
      duration_ms: Type.Integer({ description: 'Duration in milliseconds' }),
      stdout_dropped_bytes: Type.Optional(
        Type.Integer({ description: 'Number of bytes cut from stdout, if any' }),
      ),
      stderr_dropped_bytes: Type.Optional(
        Type.Integer({ description: 'Number of bytes cut from stderr, if any' }),
      ),
    },
    { title: 'ProcessExecResult' },
  ),
  errors: ['process_timed_out'],
})

export const spawnProcess = control({
  id: 'spawnProcess',
  referenceIds: ['processSpawn'],
  tag,
  summary: 'Run a program in the background',
  description:
    'While the program runs, the session does not time out and does not go on standby. ' +
    'Returns 400 if the program cannot be started.',
  method: 'POST',
  at: '/process/spawn',
  body: Strict({
    ...start,
    allocate_tty: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Run the program in a terminal. Its output is on the output stream and on the WebSocket ' +
          '`{base_url}/process/{process_id}/attach?jwt=…`. Binary messages are terminal data in both directions. ' +
          'Send the text message `{"type":"resize","rows":24,"cols":80}` to change the size. The last message is ' +
          '`{"type":"exit","exit_code":0}`. Several clients can attach; each gets all stored output first',
      }),
    ),
    rows: Type.Optional(terminalSize('Rows of the terminal; 24 by default')),
    cols: Type.Optional(terminalSize('Columns of the terminal; 80 by default')),
  }),
  status: 200,
  response: Type.Object(
    {
      process_id: Type.String({ description: 'Id of the process, a UUID' }),
      pid: Type.Integer({ description: 'Process id inside the instance' }),
      started_at: Timestamp('When the process started'),
    },
    { title: 'SpawnedProcess' },
  ),
})

export const getProcessStatus = control({
  id: 'getProcessStatus',
  referenceIds: ['processStatus'],
  tag,
  summary: 'Get the status of a process',
  description: `Available for ${ENDED_KEPT_SECONDS / 60} minutes after the process ends, for the last ${MAX_ENDED_KEPT} ended processes.`,
  method: 'GET',
  at: '/process/{process_id}/status',
  params: processId,
  status: 200,
  response: Type.Object(
    {
      state: OneOf(['running', 'exited'] as const, { description: 'Whether the process runs' }),
      exit_code: Nullable(Type.Integer({ description: `${exitCode}. Null while the process runs` })),
      cpu_pct: Type.Number({
        description:
          'CPU usage of the process and its descendants since the previous status request, or since its start, in ' +
          'percent of one core; 0 after its end',
      }),
      mem_bytes: Type.Integer({
        description: 'Resident memory of the process and its descendants; 0 after its end',
      }),
      timed_out: Type.Optional(
        Type.Boolean({ description: 'True if the process was killed because of `timeout_sec`' }),
      ),
    },
    { title: 'ProcessStatus' },
  ),
})

export const writeProcessStdin = control({
  id: 'writeProcessStdin',
  referenceIds: ['processStdin'],
  tag,
  summary: 'Write to the stdin of a process',
  description:
    'Writes all data or none. Returns 409 if the process has ended, its stdin is closed, or it has not read 1 MB of ' +
    'earlier input for 10 seconds.',
  method: 'POST',
  at: '/process/{process_id}/stdin',
  params: processId,
  body: Strict({
    data_b64: Type.String({
      pattern: '^[A-Za-z0-9+/]*={0,2}$',
      examples: ['aGkK'],
      description: 'Data to write, in base64; may be empty',
    }),
    close: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Extension: close stdin after the data, so that the program sees the end of its input. ' +
          'In a terminal this sends Ctrl-D',
      }),
    ),
  }),
  status: 200,
  response: Type.Object(
    { written_bytes: Type.Integer({ description: 'Number of bytes written' }) },
    { title: 'ProcessStdinResult' },
  ),
})

export const killProcess = control({
  id: 'killProcess',
  referenceIds: ['processKill'],
  tag,
  summary: 'Send a signal to a process and its group',
  description:
    'The program decides how to handle the signal, except for KILL. If the signal ends it, its state is `exited` with ' +
    'exit code 143 for TERM, 137 for KILL, 130 for INT and 129 for HUP. Returns 409 if the process has ended.',
  method: 'POST',
  at: '/process/{process_id}/kill',
  params: processId,
  body: Strict({
    signal: Type.Optional(
      OneOf(['TERM', 'KILL', 'INT', 'HUP'] as const, { description: 'Signal to send', default: 'TERM' }),
    ),
  }),
  bodyOptional: true,
  status: 200,
  response: Ok,
})

export const resizeProcess = control({
  id: 'resizeProcess',
  referenceIds: ['processResize'],
  tag,
  summary: 'Resize the terminal of a process',
  description: 'Returns 400 if the process has no terminal, and 409 if it has ended.',
  method: 'POST',
  at: '/process/{process_id}/resize',
  params: processId,
  body: Strict({ rows: terminalSize('Rows'), cols: terminalSize('Columns') }),
  status: 200,
  response: Ok,
})

export const streamProcessOutput = control({
  id: 'streamProcessOutput',
  referenceIds: ['processStdoutStream'],
  tag,
  summary: 'Follow the output of a process',
  description:
    `Starts with the stored output: the last ${megabytes(MAX_SPOOL_BYTES)} of the process, and ` +
    `${megabytes(MAX_SPOOL_BYTES_OF_ALL)} of all processes together. Ends with an \`exit\` event. ` +
    'A `cut` event marks output that is missing, with its size. Terminal output is `stdout`. ' +
    'Several clients can read at the same time.',
  method: 'GET',
  at: '/process/{process_id}/stdout/stream',
  params: processId,
  kind: 'events',
  contentType: 'text/event-stream',
  status: 200,
  response: Type.Object(
    {
      stream: Type.Optional(
        OneOf(['stdout', 'stderr'] as const, { description: 'Output stream of the data' }),
      ),
      data_b64: Type.Optional(Type.String({ description: 'Output in base64' })),
      event: Type.Optional(
        OneOf(['exit', 'cut'] as const, {
          description: '`exit`: the process has ended. `cut`: output is missing here',
        }),
      ),
      exit_code: Type.Optional(Type.Integer({ description: exitCode })),
      dropped_bytes: Type.Optional(
        Type.Integer({ minimum: 1, description: 'For `cut`: number of missing bytes' }),
      ),
    },
    { title: 'ProcessOutputEvent' },
  ),
})
