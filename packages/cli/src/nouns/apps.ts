import type { FlagRow, Noun } from '../command/rows.ts'

const env: readonly FlagRow[] = [
  {
    flags: '-e, --env <name=value>',
    as: 'map',
    help: 'An environment variable of the app; repeat it for more',
  },
  {
    flags: '--env-file <file>',
    as: 'strings',
    help: 'A file with lines like NAME=VALUE; repeat it for more',
  },
]

const deployFlags: readonly FlagRow[] = [
  { flags: '--version <label>', help: 'The label of the version; latest by default' },
  { flags: '--force', help: 'Replace a version with the same label' },
  { flags: '--region <region>', help: 'Accepted for compatibility', isHidden: true },
  ...env,
  { flags: '--no-follow', help: 'Do not wait for the build' },
]

export const deploy: Noun = {
  name: 'deploy',
  summary: 'Deploy an app, and see deployments',
  columns: 'id status entrypoint_rel_path=entrypoint source_type=source created_at',
  wide: 'status_reason=reason region source_url source_ref env_vars=env updated_at',
  itself: {
    summary: 'Deploy the app in the directory of its entry file, and follow the build',
    args: '<entrypoint>',
    flags: deployFlags,
    notes: 'What .gitignore and .ignore name is left out, and .git too.',
    run: () => import('../apps/deploy.ts'),
  },
  verbs: [
    {
      name: 'github',
      summary: 'Deploy an app from a git repository',
      flags: [
        { flags: '--url <address>', help: 'The repository' },
        { flags: '--ref <name>', help: 'A branch, tag or commit' },
        { flags: '--entrypoint <file>', help: 'The file to import' },
        { flags: '--path <directory>', help: 'The directory of the app in the repository' },
        {
          flags: '--github-token <text>',
          as: 'secret',
          help: 'A token that may read it; @FILE or - (stdin) keeps it out of the shell history',
        },
        ...deployFlags,
      ],
      run: () => import('../apps/deploy-github.ts'),
    },
    { name: 'get', op: 'getDeployment' },
    {
      name: 'logs',
      summary: 'Show the logs of a deployment',
      args: '<id>',
      flags: [
        { flags: '-f, --follow', help: 'Wait for more' },
        { flags: '-s, --since <time>', help: 'From then on, such as 5m or a time' },
        { flags: '-t, --with-timestamps', help: 'The time before each line' },
      ],
      run: () => import('../apps/deployment-logs.ts'),
    },
    {
      name: 'history',
      aliases: ['list', 'ls'],
      op: 'listDeployments',
      args: '[app_name]',
      flags: [{ flags: '--app <name>', field: 'app_name' }],
    },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteDeployment',
      summary: 'Stop and delete a deployment',
      confirm: 'always',
      done: 'Deleted {id}',
    },
  ],
}

export const invoke: Noun = {
  name: 'invoke',
  summary: 'Run an action of an app',
  columns: 'id app_name=app action_name=action version status started_at finished_at',
  wide: 'status_reason=reason output',
  itself: {
    summary: 'Run an action, follow its logs and print its result; Ctrl-C cancels it',
    args: '<app> <action>',
    flags: [
      { flags: '-v, --version <label>', help: 'The version of the app; latest by default' },
      { flags: '-p, --payload <json>', help: 'What the action gets, as JSON; @FILE reads it' },
      { flags: '-f, --payload-file <file>', help: 'The same from a file; - is stdin' },
      { flags: '-s, --sync', help: 'One request that waits for the result, without logs' },
      { flags: '--async-timeout <seconds>', as: 'integer', help: 'How long it may run; 10 to 3600' },
      { flags: '--since <time>', help: 'Logs from then on' },
      { flags: '--no-follow', help: 'Do not wait for the result' },
    ],
    run: () => import('../apps/invoke.ts'),
  },
  verbs: [
    {
      name: 'history',
      aliases: ['list', 'ls'],
      op: 'listInvocations',
      flags: [
        { flags: '-a, --app <name>', field: 'app_name' },
        { flags: '--action <name>', field: 'action_name' },
      ],
    },
    { name: 'get', op: 'getInvocation' },
    {
      name: 'browsers',
      op: 'listInvocationBrowsers',
      columns: 'session_id=id name created_at headless',
      run: () => import('../apps/invocation-browsers.ts'),
    },
    {
      name: 'update',
      op: 'updateInvocation',
      flags: [{ flags: '--output <json>', field: 'output', help: 'The result, as JSON' }],
    },
    {
      name: 'delete-browsers',
      op: 'deleteInvocationBrowsers',
      summary: 'End the sessions of an invocation',
      done: 'Ended the sessions of {id}',
    },
  ],
}

export const app: Noun = {
  name: 'app',
  aliases: ['apps'],
  summary: 'List and delete apps',
  columns: 'app_name=app version actions deployment',
  wide: 'id region env_vars=env',
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      op: 'listApps',
      flags: [{ flags: '--name <name>', field: 'app_name' }],
      run: () => import('../apps/list-apps.ts'),
    },
    {
      name: 'history',
      op: 'listDeployments',
      args: '<app_name>',
      columns: 'id status entrypoint_rel_path=entrypoint created_at',
      wide: 'status_reason=reason',
    },
    {
      name: 'delete',
      aliases: ['rm'],
      summary: 'Delete every deployment of an app',
      args: '<app>',
      flags: [{ flags: '--version <label>', help: 'Only of this version' }],
      confirm: 'always',
      run: () => import('../apps/delete-app.ts'),
    },
  ],
}

export const logs: Noun = {
  name: 'logs',
  summary: 'Show the logs of an app',
  verbs: [],
  itself: {
    summary: 'Show the logs of an app',
    args: '<app>',
    flags: [
      { flags: '--version <label>', help: 'The version of the app; latest by default' },
      { flags: '-f, --follow', help: 'Wait for more' },
      { flags: '-s, --since <time>', help: 'From then on; 5m by default, 5s with --follow' },
      { flags: '-t, --with-timestamps', help: 'The time before each line' },
      { flags: '-i, --invocation <id>', help: 'Only of this invocation' },
    ],
    run: () => import('../apps/app-logs.ts'),
  },
}

export const create: Noun = {
  name: 'create',
  summary: 'Start an app from a template',
  verbs: [],
  itself: {
    summary: 'Start an app from a template',
    args: '[directory]',
    flags: [
      { flags: '-n, --name <name>', help: 'The name of the app; that of the directory by default' },
      { flags: '-l, --language <language>', help: 'typescript or python' },
      { flags: '-t, --template <template>', help: 'hello, screenshot, login or crawl' },
    ],
    confirm: 'terminal',
    run: () => import('../apps/create.ts'),
  },
}
