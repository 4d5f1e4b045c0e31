// Every noun, for help and for finding its file. The tables themselves are loaded when they are used.
import type { Noun } from './command/rows.ts'

export interface NounEntry {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly group: string
  readonly load: () => Promise<{ readonly noun: Noun }>
}

const of = (load: () => Promise<Noun>) => async () => ({ noun: await load() })
const session = (name: 'computer' | 'fs' | 'process' | 'playwright' | 'replays' | 'repl' | 'webmcp') =>
  of(async () => (await import('./nouns/session.ts'))[name])
const account = (name: 'projects' | 'org' | 'apiKeys' | 'auditLogs') =>
  of(async () => (await import('./nouns/organisation.ts'))[name])
const logins = (name: 'auth' | 'credentials' | 'credentialProviders') =>
  of(async () => (await import('./nouns/logins.ts'))[name])
const apps = (name: 'app' | 'deploy' | 'invoke' | 'logs' | 'create') =>
  of(async () => (await import('./nouns/apps.ts'))[name])
const resources = (name: 'pools' | 'profiles' | 'proxies' | 'extensions') =>
  of(async () => (await import('./nouns/resources.ts'))[name])
const here = (name: 'up' | 'doctor' | 'open' | 'status' | 'upgrade' | 'api' | 'mcp' | 'completion') =>
  of(async () => (await import('./nouns/here.ts'))[name])
const access = (name: 'login' | 'logout' | 'context') =>
  of(async () => (await import('./nouns/access.ts'))[name])

const SERVER = 'Server:'
const BROWSERS = 'Browsers:'
const APPS = 'Apps:'
const LOGINS = 'Logins:'
const ORGANISATION = 'Organisation:'
const TOOLS = 'Tools:'

export const nouns: readonly NounEntry[] = [
  { name: 'up', summary: 'Start a server on this machine', group: SERVER, load: here('up') },
  {
    name: 'doctor',
    summary: 'Say what is missing on this machine, and how to get it',
    group: SERVER,
    load: here('doctor'),
  },
  { name: 'open', summary: 'Open the dashboard in a browser', group: SERVER, load: here('open') },
  { name: 'status', summary: 'Show the state of the server', group: SERVER, load: here('status') },
  {
    name: 'login',
    summary: 'Store the address and the key of a server',
    group: SERVER,
    load: access('login'),
  },
  { name: 'logout', summary: 'Forget the key of a server', group: SERVER, load: access('logout') },
  {
    name: 'context',
    aliases: ['contexts'],
    summary: 'Switch between servers',
    group: SERVER,
    load: access('context'),
  },

  {
    name: 'browsers',
    aliases: ['browser'],
    summary: 'Create, use and end browser sessions',
    group: BROWSERS,
    load: of(async () => (await import('./nouns/browsers.ts')).browsers),
  },
  {
    name: 'computer',
    summary: 'Mouse, keyboard, screen and clipboard of a session',
    group: BROWSERS,
    load: session('computer'),
  },
  { name: 'fs', summary: 'Files of a session', group: BROWSERS, load: session('fs') },
  { name: 'process', summary: 'Programs of a session', group: BROWSERS, load: session('process') },
  {
    name: 'playwright',
    summary: 'Run Playwright code next to the browser',
    group: BROWSERS,
    load: session('playwright'),
  },
  {
    name: 'repl',
    summary: 'Run JavaScript that keeps its variables',
    group: BROWSERS,
    load: session('repl'),
  },
  { name: 'webmcp', summary: 'Tools that pages offer', group: BROWSERS, load: session('webmcp') },
  {
    name: 'replays',
    aliases: ['replay'],
    summary: 'Recordings of a session',
    group: BROWSERS,
    load: session('replays'),
  },
  {
    name: 'telemetry',
    summary: 'Events of sessions, and where they are exported to',
    group: BROWSERS,
    load: of(async () => (await import('./nouns/session.ts')).telemetryWithDestinations),
  },
  {
    name: 'pools',
    aliases: ['browser-pools', 'browser-pool', 'pool'],
    summary: 'Browsers that wait to be leased',
    group: BROWSERS,
    load: resources('pools'),
  },
  {
    name: 'profiles',
    aliases: ['profile'],
    summary: 'Cookies, storage and tabs that outlive a session',
    group: BROWSERS,
    load: resources('profiles'),
  },
  {
    name: 'proxies',
    aliases: ['proxy'],
    summary: 'Proxies that sessions leave by',
    group: BROWSERS,
    load: resources('proxies'),
  },
  {
    name: 'extensions',
    aliases: ['extension'],
    summary: 'Extensions that sessions load',
    group: BROWSERS,
    load: resources('extensions'),
  },

  { name: 'create', summary: 'Start an app from a template', group: APPS, load: apps('create') },
  { name: 'deploy', summary: 'Deploy an app, and see deployments', group: APPS, load: apps('deploy') },
  { name: 'invoke', summary: 'Run an action of an app', group: APPS, load: apps('invoke') },
  { name: 'app', aliases: ['apps'], summary: 'List and delete apps', group: APPS, load: apps('app') },
  { name: 'logs', summary: 'Show the logs of an app', group: APPS, load: apps('logs') },

  {
    name: 'auth',
    summary: 'Keep profiles logged in; show the key in use',
    group: LOGINS,
    load: logins('auth'),
  },
  {
    name: 'credentials',
    aliases: ['credential', 'creds', 'cred'],
    summary: 'User names, passwords and codes for logins',
    group: LOGINS,
    load: logins('credentials'),
  },
  {
    name: 'credential-providers',
    aliases: ['credential-provider'],
    summary: 'Password managers for logins',
    group: LOGINS,
    load: logins('credentialProviders'),
  },

  {
    name: 'projects',
    aliases: ['project'],
    summary: 'Projects, and what they may use',
    group: ORGANISATION,
    load: account('projects'),
  },
  {
    name: 'org',
    aliases: ['organization', 'organisation'],
    summary: 'Limits of the organisation',
    group: ORGANISATION,
    load: account('org'),
  },
  {
    name: 'api-keys',
    aliases: ['api-key'],
    summary: 'Keys of the API',
    group: ORGANISATION,
    load: account('apiKeys'),
  },
  {
    name: 'webhooks',
    aliases: ['webhook'],
    summary: 'Tell your servers what happens',
    group: ORGANISATION,
    load: of(async () => (await import('./nouns/webhooks.ts')).webhooks),
  },
  {
    name: 'audit-logs',
    aliases: ['audit-log'],
    summary: 'Who did what',
    group: ORGANISATION,
    load: account('auditLogs'),
  },

  { name: 'api', summary: 'Send any request to the API', group: TOOLS, load: here('api') },
  {
    name: 'mcp',
    summary: 'Serve the tools for agents (MCP) over stdin and stdout',
    group: TOOLS,
    load: here('mcp'),
  },
  {
    name: 'completion',
    summary: 'Completions for bash, zsh and fish',
    group: TOOLS,
    load: here('completion'),
  },
  { name: 'upgrade', summary: 'Say how to get a newer version', group: TOOLS, load: here('upgrade') },
]
