// What happens inside a session. Each of these is below `browsers`, and a noun of its own.
import type { FlagRow, Noun, Verb } from '../command/rows.ts'

const holdKey: FlagRow = {
  flags: '--hold-key <key>',
  field: 'hold_keys',
  as: 'strings',
  help: 'A key to hold meanwhile; repeat it for more',
}

export const computer: Noun = {
  name: 'computer',
  summary: 'Mouse, keyboard, screen and clipboard of a session',
  verbs: [
    { name: 'click-mouse', op: 'clickMouse', flags: [holdKey], done: 'Clicked' },
    { name: 'move-mouse', op: 'moveMouse', flags: [holdKey], done: 'Moved' },
    {
      name: 'screenshot',
      op: 'captureScreenshot',
      summary: 'Take a picture of the screen, as PNG',
      flags: (['x', 'y', 'width', 'height'] as const).map((name) => ({
        flags: `--${name} <number>`,
        field: `region.${name}`,
        as: 'integer' as const,
        help: `${name} of the part to take`,
      })),
    },
    {
      name: 'type',
      op: 'typeText',
      args: '<id> [text]',
      flags: [{ flags: '--text <text>', field: 'text' }],
      done: 'Typed',
    },
    {
      name: 'press-key',
      op: 'pressKey',
      args: '<id> [keys...]',
      flags: [
        {
          flags: '--key <key>',
          field: 'keys',
          as: 'strings',
          help: 'A key or a combination such as Ctrl+a; repeat it for more',
        },
        holdKey,
      ],
      run: () => import('../sessions/press-key.ts'),
    },
    { name: 'scroll', op: 'scroll', flags: [holdKey], done: 'Scrolled' },
    {
      name: 'drag-mouse',
      op: 'dragMouse',
      flags: [
        { flags: '--point <x,y>', field: 'path', as: 'point', help: 'A point of the way; give at least two' },
        holdKey,
      ],
      done: 'Dragged',
    },
    {
      name: 'set-cursor',
      op: 'setCursorVisibility',
      flags: [
        {
          flags: '--hidden [boolean]',
          field: 'hidden',
          as: 'boolean',
          help: 'true hides it, false shows it',
        },
      ],
    },
    { name: 'get-mouse-position', op: 'getMousePosition' },
    {
      name: 'batch',
      op: 'batchComputerActions',
      flags: [
        {
          flags: '--actions <json>',
          field: 'actions',
          as: 'json',
          help: 'The actions as JSON, @FILE, or - for stdin',
        },
      ],
    },
    { name: 'read-clipboard', op: 'readClipboard' },
    {
      name: 'write-clipboard',
      op: 'writeClipboard',
      args: '<id> [text]',
      flags: [{ flags: '--text <text>', field: 'text' }],
    },
  ],
}

const toFile: FlagRow = { flags: '-o, --output <file>', help: 'Where to write it; - is stdout' }
const path: FlagRow = { flags: '--path <path>', field: 'path' }

export const fs: Noun = {
  name: 'fs',
  summary: 'Files of a session',
  columns: 'mode size_bytes mod_time=modified name',
  wide: 'path',
  verbs: [
    { name: 'list-files', aliases: ['ls'], op: 'listFiles', args: '<id> [path]', flags: [path] },
    { name: 'file-info', op: 'fileInfo', args: '<id> [path]', flags: [path] },
    {
      name: 'read-file',
      aliases: ['cat'],
      op: 'readFile',
      args: '<id> [path]',
      flags: [path, toFile],
      run: () => import('../sessions/read-file.ts'),
    },
    {
      name: 'write-file',
      op: 'writeFile',
      args: '<id> [path]',
      summary: 'Write a file of this machine, or stdin, to a file of the session',
      flags: [path, { flags: '--source <file>', help: 'The file of this machine; - is stdin, the default' }],
      run: () => import('../sessions/write-file.ts'),
    },
    {
      name: 'upload',
      summary: 'Upload files',
      op: 'uploadFiles',
      args: '<id> [files...]',
      without: ['files[0][dest_path]', 'files[0][file]'],
      flags: [
        {
          flags: '--file <local:remote>',
          as: 'strings',
          help: 'A file and its path in the session; repeat it for more',
        },
        { flags: '--dest-dir <directory>', help: 'The directory for files that are named without a path' },
        { flags: '--paths <file>', as: 'strings', help: 'A file for --dest-dir; repeat it for more' },
      ],
      run: () => import('../sessions/upload.ts'),
    },
    {
      name: 'upload-zip',
      summary: 'Upload a zip archive and unpack it',
      op: 'uploadZip',
      without: ['zip_file', 'dest_path'],
      flags: [
        { flags: '--zip <file>', help: 'The archive; - is stdin' },
        { flags: '--dest-dir <directory>', help: 'Where to unpack it' },
      ],
      run: () => import('../sessions/upload-zip.ts'),
    },
    {
      name: 'download-dir-zip',
      op: 'downloadDirZip',
      args: '<id> [path]',
      flags: [path, toFile],
      run: () => import('../sessions/read-file.ts'),
    },
    {
      name: 'new-directory',
      aliases: ['mkdir'],
      op: 'createDirectory',
      args: '<id> [path]',
      flags: [path],
      done: 'Created {id}',
    },
    { name: 'delete-directory', op: 'deleteDirectory', args: '<id> [path]', flags: [path] },
    { name: 'delete-file', aliases: ['rm'], op: 'deleteFile', args: '<id> [path]', flags: [path] },
    {
      name: 'move',
      aliases: ['mv'],
      op: 'moveFile',
      args: '<id> [src_path] [dest_path]',
      flags: [
        { flags: '--src <path>', field: 'src_path' },
        { flags: '--dest <path>', field: 'dest_path' },
      ],
    },
    { name: 'set-permissions', aliases: ['chmod'], op: 'setFilePermissions', flags: [path] },
    {
      name: 'watch',
      summary: 'Hear of changes in a directory',
      verbs: [
        { name: 'start', op: 'startWatch', args: '<id> [path]', flags: [path] },
        { name: 'stop', op: 'stopWatch', done: 'Stopped' },
        { name: 'events', op: 'watchEvents' },
      ],
    },
  ],
}

const command: readonly FlagRow[] = [
  { flags: '--command <program>', field: 'command' },
  { flags: '--args <argument>', field: 'args', as: 'strings', help: 'An argument; repeat it for more' },
  { flags: '--timeout <seconds>', field: 'timeout_sec' },
  {
    flags: '--env <name=value>',
    field: 'env',
    as: 'map',
    help: 'An environment variable; repeat it for more',
  },
]
const words: Pick<Verb, 'args' | 'notes'> = {
  args: '<id> [words...]',
  notes: 'Words after the id are run by bash: berth process exec ID -- ls -l /tmp',
}

export const process: Noun = {
  name: 'process',
  summary: 'Programs of a session',
  verbs: [
    {
      name: 'exec',
      op: 'execProcess',
      ...words,
      flags: [...command, { flags: '--exit-code', help: "End with the program's exit code" }],
      run: () => import('../sessions/exec.ts'),
    },
    {
      name: 'spawn',
      op: 'spawnProcess',
      ...words,
      flags: command,
      run: () => import('../sessions/spawn.ts'),
    },
    { name: 'status', op: 'getProcessStatus' },
    { name: 'kill', op: 'killProcess' },
    {
      name: 'stdin',
      op: 'writeProcessStdin',
      flags: [
        { flags: '--data-b64 <base64>', field: 'data_b64', as: 'string' },
        { flags: '--data <text>', field: 'data_b64', as: 'base64', help: 'Text to send as it is' },
      ],
    },
    { name: 'stdout-stream', op: 'streamProcessOutput' },
    { name: 'resize', op: 'resizeProcess' },
  ],
}

export const playwright: Noun = {
  name: 'playwright',
  summary: 'Run Playwright code next to the browser',
  verbs: [
    {
      name: 'execute',
      op: 'executePlaywrightCode',
      args: '<id> [code]',
      summary: 'Run Playwright code; without code it is read from stdin',
      flags: [{ flags: '--timeout <seconds>', field: 'timeout_sec' }],
      run: () => import('../sessions/run-code.ts'),
    },
    { name: 'executors', op: 'listPlaywrightExecutors' },
    { name: 'delete-executor', op: 'deletePlaywrightExecutor' },
  ],
}

export const repl: Noun = {
  name: 'repl',
  summary: 'Run JavaScript that keeps its variables',
  verbs: [
    {
      name: 'execute',
      op: 'executeRepl',
      args: '<id> [code]',
      summary: 'Run code; without code it is read from stdin',
      flags: [{ flags: '--timeout <seconds>', field: 'timeout_sec' }],
      run: () => import('../sessions/run-code.ts'),
    },
  ],
}

export const webmcp: Noun = {
  name: 'webmcp',
  summary: 'Tools that pages offer',
  verbs: [
    { name: 'tools', op: 'listWebMcpTools' },
    {
      name: 'invoke',
      op: 'invokeWebMcpTool',
      flags: [{ flags: '--input <json>', field: 'input', as: 'json', help: 'What the tool gets, as JSON' }],
    },
  ],
}

export const replays: Noun = {
  name: 'replays',
  aliases: ['replay'],
  summary: 'Recordings of a session',
  columns: 'replay_id=id started_at finished_at duration_ms size_bytes',
  wide: 'framerate end_reason replay_view_url=url',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listReplays' },
    {
      name: 'start',
      op: 'startReplay',
      flags: [{ flags: '--max-duration <seconds>', field: 'max_duration_in_seconds' }],
    },
    {
      name: 'stop',
      op: 'stopReplay',
      done: 'Stopped {id}',
      wait: {
        help: 'Until the recording can be downloaded',
        load: () => import('../sessions/wait-for-replay.ts'),
      },
    },
    {
      name: 'download',
      op: 'downloadReplay',
      flags: [{ flags: '-f, --output-file <file>', help: 'The same as --output' }],
    },
  ],
}

const filters: readonly FlagRow[] = [
  { flags: '--categories <names>', as: 'comma-list', help: 'Only these, with commas between them' },
  { flags: '--types <names>', as: 'comma-list', help: 'Only events of these types' },
]

const telemetryVerbs: readonly Verb[] = [
  {
    name: 'stream',
    op: 'streamTelemetry',
    flags: [
      ...filters,
      { flags: '--seq <number>', as: 'integer', help: 'Continue after the event with this number' },
    ],
    run: () => import('../sessions/telemetry.ts'),
  },
  {
    name: 'events',
    op: 'listTelemetryEvents',
    columns: 'seq event.ts=time event.category=category event.type=type event.data=data',
    flags: [
      {
        flags: '--categories <names>',
        field: 'category',
        as: 'comma-list',
        help: 'Only these, with commas between them',
      },
      { flags: '--types <names>', as: 'comma-list', help: 'Only events of these types' },
    ],
    run: () => import('../sessions/telemetry.ts'),
  },
  { name: 'har', op: 'exportTelemetryHar', summary: 'Download the requests as a HAR file' },
  { name: 'export', op: 'exportTelemetryEvents', summary: 'Download all events, one in a line' },
]

export const telemetry: Noun = {
  name: 'telemetry',
  summary: 'Events of a session',
  verbs: telemetryVerbs,
}

const headers: FlagRow = {
  flags: '--header <name=value>',
  field: 'headers',
  as: 'map',
  help: 'A header; repeat it for more',
}

export const telemetryWithDestinations: Noun = {
  name: 'telemetry',
  summary: 'Events of sessions, and where they are exported to',
  verbs: [
    ...telemetryVerbs,
    {
      name: 'destinations',
      aliases: ['destination', 'dest'],
      summary: 'Collectors that telemetry is exported to',
      columns: 'id name endpoint delivery.last_success_at=last_success',
      wide: 'delivery.backlog_events=backlog delivery.last_error=last_error created_at',
      verbs: [
        { name: 'list', aliases: ['ls'], op: 'listTelemetryDestinations' },
        { name: 'get', op: 'getTelemetryDestination' },
        { name: 'create', op: 'createTelemetryDestination', flags: [headers] },
        {
          name: 'update',
          op: 'updateTelemetryDestination',
          flags: [
            headers,
            {
              flags: '--remove-header <name>',
              field: 'headers',
              as: 'null-map',
              help: 'A header to remove; repeat it for more',
            },
          ],
        },
        {
          name: 'delete',
          aliases: ['rm'],
          op: 'deleteTelemetryDestination',
          summary: 'Delete a destination',
          confirm: 'always',
          done: 'Deleted {id}',
        },
      ],
    },
  ],
}
