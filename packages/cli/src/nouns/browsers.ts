import type { Noun } from '../command/rows.ts'
import { computer, fs, playwright, process, repl, replays, telemetry, webmcp } from './session.ts'
import { exportFlag, profileFlags, shapeFlags, tagFlag, telemetryFlag } from './shared-flags.ts'

export const browsers: Noun = {
  name: 'browsers',
  aliases: ['browser'],
  summary: 'Create, use and end browser sessions',
  columns: 'session_id=id name state created_at headless profile.name=profile pool.name=pool',
  wide: 'timeout_seconds region proxy.name=proxy tags end_reason browser_live_view_url=live_view',
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      op: 'listBrowsers',
      flags: [{ ...tagFlag, help: 'Only with this tag; repeat it for more' }],
    },
    {
      name: 'create',
      op: 'createBrowser',
      flags: [
        ...shapeFlags,
        ...profileFlags,
        tagFlag,
        telemetryFlag,
        exportFlag,
        { flags: '--viewport-interactive', help: 'Choose the viewport from a list' },
        { flags: '--pool-id <id>', help: 'Lease a browser of this pool instead' },
        { flags: '--pool-name <name>', help: 'The same, by its name' },
      ],
      confirm: 'terminal',
      run: () => import('../sessions/create.ts'),
    },
    { name: 'get', op: 'getBrowser' },
    {
      name: 'view',
      summary: 'Print the address of the live view',
      args: '<id>',
      run: () => import('../sessions/view.ts'),
    },
    {
      name: 'update',
      op: 'updateBrowser',
      flags: [
        ...profileFlags,
        tagFlag,
        telemetryFlag,
        { flags: '-t, --timeout <seconds>', field: 'timeout_seconds' },
        {
          flags: '--viewport <WxH@Hz>',
          field: 'viewport',
          as: 'viewport',
          help: 'Size of the page, such as 1280x800',
        },
        {
          flags: '--force',
          field: 'viewport.force',
          help: 'Change the viewport although somebody watches or records',
        },
        { flags: '--clear-proxy', field: 'proxy_id', always: '', help: 'Use no proxy any more' },
      ],
    },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteBrowser',
      args: '<id...>',
      summary: 'End sessions',
      done: 'Ended {id}',
    },
    {
      name: 'ssh',
      summary: 'Open a shell in a session',
      args: '<id> [command...]',
      flags: [
        { flags: '--shell <program>', help: 'What to start; bash by default' },
        { flags: '--as-root', help: 'As root of a user namespace of its own' },
        { flags: '--cwd <directory>', help: 'Where to start' },
        // Of the published command line, whose way needs a daemon in the session.
        ...[
          '-i, --identity <key>',
          '-L, --local-forward <spec>',
          '-R, --remote-forward <spec>',
          '--setup-only',
        ].map((flags) => ({ flags, isHidden: true as const })),
      ],
      notes:
        'The shell goes over the API, so it needs no SSH daemon and no key. Copy files with "berth browsers cp".\nWords after the id are run instead of a shell: berth browsers ssh ID -- top',
      run: () => import('../terminal/shell.ts'),
    },
    {
      name: 'cp',
      summary: 'Copy files to and from a session',
      args: '<from> <to>',
      flags: [{ flags: '-r, --recursive', help: 'A directory and all that is in it' }],
      notes:
        'A place in a session is ID:/absolute/path, everything else is on this machine; - is stdin or stdout.',
      run: () => import('../terminal/copy.ts'),
    },
    {
      name: 'curl',
      summary: 'Send an HTTP request with the browser itself',
      args: '<id> <url>',
      flags: [
        { flags: '-X, --request <method>', help: 'The method; GET by default' },
        { flags: '-H, --header <name: value>', as: 'strings', help: 'A header; repeat it for more' },
        { flags: '-d, --data <text>', help: 'The body; @FILE reads it from a file' },
        { flags: '--data-file <file>', help: 'The body from a file; - is stdin' },
        { flags: '-m, --max-time <seconds>', as: 'integer', help: 'How long it may take; 30 by default' },
        { flags: '-o, --output <file>', help: 'Where to write the body' },
        { flags: '-I, --head', help: 'Only the headers' },
        { flags: '-i, --include', help: 'The headers before the body' },
        { flags: '-D, --dump-header <file>', help: 'Write the headers to a file' },
        {
          flags: '-w, --write-out <format>',
          help: 'Print this after the answer; %{http_code} is the status',
        },
        { flags: '-f, --fail', help: 'End with exit code 1 for a status from 400' },
        { flags: '-s, --silent', help: 'Accepted for compatibility; there is no progress' },
        {
          flags: '-L, --location',
          help: 'Accepted for compatibility; the browser follows redirects',
          isHidden: true,
        },
      ],
      run: () => import('../sessions/curl.ts'),
    },
    {
      name: 'live-view-link',
      op: 'createLiveViewLink',
      summary: 'Make a link to the live view for somebody else',
    },
    { name: 'devtools', op: 'createDevtoolsLink', summary: 'Make a link to DevTools for a page' },
    { name: 'pages', op: 'listBrowserPages', columns: 'id title url' },
    {
      name: 'handover',
      summary: 'Hand a session over to a person, and hear when they are done',
      verbs: [
        { name: 'create', op: 'createHandover' },
        { name: 'get', op: 'getHandover' },
        { name: 'finish', op: 'finishHandover' },
      ],
    },
    { name: 'save-profile', op: 'saveSessionProfile', summary: 'Save the profile while the session goes on' },
    computer,
    fs,
    process,
    playwright,
    repl,
    webmcp,
    replays,
    telemetry,
    {
      name: 'logs',
      summary: 'Logs of a session',
      verbs: [
        {
          name: 'stream',
          op: 'streamLogs',
          flags: [
            { flags: '-f, --follow', field: 'follow' },
            { flags: '--no-follow', field: 'follow', isHidden: true },
          ],
        },
      ],
    },
    {
      name: 'extensions',
      summary: 'Load extensions into a running session',
      verbs: [
        {
          name: 'upload',
          summary: 'Load the extensions of these directories',
          args: '<id> <directory...>',
          run: () => import('../sessions/load-extensions.ts'),
        },
      ],
    },
  ],
}
