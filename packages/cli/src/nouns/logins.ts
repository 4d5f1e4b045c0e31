// Logins: connections that keep a profile logged in, and where their secrets are from.
import type { FlagRow, Noun } from '../command/rows.ts'
import { exportFlag } from './shared-flags.ts'

const allowedDomain: FlagRow = {
  flags: '--allowed-domain <domain>',
  field: 'allowed_domains',
  as: 'strings',
  help: 'A domain where secrets may be typed; repeat it for more',
}

/** Everything of the session of a login is below `browser`. */
const browserFlags: readonly FlagRow[] = [
  { flags: '--proxy-id <id>', field: 'browser.proxy.id', as: 'string', help: 'Leave by this proxy' },
  { flags: '--proxy-name <name>', field: 'browser.proxy.name', as: 'string', help: 'The same, by its name' },
  { flags: '--proxy-mode <mode>', field: 'browser.proxy.mode', as: 'string', help: 'default or direct' },
  { flags: '--stealth', field: 'browser.stealth', always: true, help: 'Hide that the browser is automated' },
  { flags: '--no-stealth', field: 'browser.stealth', always: false, isHidden: true },
  {
    flags: '--telemetry <what>',
    field: 'browser.telemetry',
    as: 'telemetry',
    help: 'all, off, or categories like console,network',
  },
  { ...exportFlag, field: 'browser.telemetry.export.otlp.destination' },
]

const withoutBrowser = ['browser', 'proxy', 'browser_telemetry']

const connectionFlags: readonly FlagRow[] = [
  allowedDomain,
  ...browserFlags,
  { flags: '--credential-name <name>', field: 'credential.name' },
  { flags: '--credential-provider <id>', field: 'credential.provider' },
  { flags: '--credential-path <path>', field: 'credential.path' },
  { flags: '--credential-auto', field: 'credential.auto' },
]

export const auth: Noun = {
  name: 'auth',
  summary: 'Keep profiles logged in; show the key in use',
  itself: { summary: 'Show the server and the key in use', run: () => import('../access/show.ts') },
  verbs: [
    { name: 'context', op: 'getAuthContext', summary: 'What the key in use may do' },
    {
      name: 'connections',
      aliases: ['connection'],
      summary: 'Profiles that Berth keeps logged in at a website',
      columns: 'id domain profile_name=profile status flow_status=flow last_auth_at=logged_in',
      wide: 'health_checks can_reauth credential.name=credential created_at',
      verbs: [
        { name: 'list', aliases: ['ls'], op: 'listAuthConnections' },
        { name: 'get', op: 'getAuthConnection' },
        { name: 'create', op: 'createAuthConnection', flags: connectionFlags, without: withoutBrowser },
        { name: 'update', op: 'updateAuthConnection', flags: connectionFlags, without: withoutBrowser },
        {
          name: 'delete',
          aliases: ['rm'],
          op: 'deleteAuthConnection',
          summary: 'Delete a connection',
          confirm: 'always',
          done: 'Deleted {id}',
        },
        {
          name: 'login',
          op: 'loginAuthConnection',
          flags: browserFlags,
          without: withoutBrowser,
          wait: { help: 'Until the login has ended', load: () => import('../sessions/wait-for-login.ts') },
        },
        {
          name: 'import',
          op: 'importAuthConnectionSession',
          args: '<id> <file>',
          summary: 'Start from a session of your own browser: storageState, cookies as JSON, or cookies.txt',
          without: ['storage_state', 'cookies', 'cookies_txt'],
          flags: [{ flags: '--wait', help: 'Until it is known whether the website takes it' }],
          run: () => import('../sessions/import-session.ts'),
        },
        {
          name: 'submit',
          op: 'submitAuthConnection',
          flags: [
            {
              flags: '--field-value <id=value>',
              field: 'field_values',
              as: 'map',
              help: 'An answer, by the id of its field; repeat it for more',
            },
            { flags: '--choice-id <id>', field: 'selected_choice_id' },
            {
              flags: '--field <name=value>',
              field: 'fields',
              as: 'map',
              help: 'An answer, by the name of its field; repeat it for more',
            },
          ],
        },
        { name: 'follow', op: 'followAuthConnection' },
        { name: 'check', op: 'checkAuthConnection' },
        { name: 'cancel', op: 'cancelAuthConnectionLogin' },
        {
          name: 'timeline',
          op: 'listAuthConnectionTimeline',
          columns: 'timestamp=time type status step error_message=error',
          wide: 'id browser_session_id=session replay_id=replay',
        },
        {
          name: 'explain',
          op: 'explainAuthConnectionLogin',
          args: '<id> [event-id]',
          summary: 'What a login saw and did, step by step; the latest one by default',
          without: ['pages'],
          flags: [
            {
              flags: '--report <file>',
              help: 'Write a report with the masked pages, for "npm run logins -- --from-report"',
            },
          ],
          run: () => import('../sessions/explain-login.ts'),
        },
        { name: 'picture', op: 'getAuthConnectionStepPicture', summary: 'The picture of a step, as SVG' },
      ],
    },
  ],
}

const secrets: readonly FlagRow[] = [
  {
    flags: '--value <name=value>',
    field: 'values',
    as: 'map',
    help: 'A value such as username=ada; repeat it for more',
  },
  {
    flags: '--totp-secret <text>',
    field: 'totp_secret',
    as: 'secret',
    help: 'The secret of one-time codes; @FILE or - (stdin) keeps it out of the shell history',
  },
  allowedDomain,
]

export const credentials: Noun = {
  name: 'credentials',
  aliases: ['credential', 'creds', 'cred'],
  summary: 'User names, passwords and codes for logins',
  columns: 'id name domain value_keys=values has_totp_secret=totp created_at',
  wide: 'sso_provider allowed_domains updated_at',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listCredentials' },
    { name: 'get', op: 'getCredential' },
    {
      name: 'create',
      op: 'createCredential',
      flags: secrets,
      notes: 'To keep secrets out of the shell history, pass them with --body - and JSON on stdin.',
    },
    {
      name: 'update',
      op: 'updateCredential',
      flags: [
        ...secrets,
        {
          flags: '--remove-value-key <name>',
          field: 'remove_value_keys',
          as: 'strings',
          help: 'A value to remove; repeat it for more',
        },
      ],
    },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteCredential',
      summary: 'Delete a credential',
      confirm: 'always',
      done: 'Deleted {id}',
    },
    { name: 'totp-code', op: 'getTotpCode' },
    {
      name: 'delete-passkey',
      op: 'deleteCredentialPasskey',
      summary: 'Delete a passkey of a credential',
      confirm: 'always',
      done: 'Deleted the passkey of {id}',
    },
  ],
}

const providerFlags: readonly FlagRow[] = [
  {
    flags: '--token <text>',
    field: 'token',
    as: 'secret',
    help: 'The token of the provider; @FILE or - (stdin) keeps it out of the shell history',
  },
  { flags: '--cache-ttl <seconds>', field: 'cache_ttl_seconds' },
]

export const credentialProviders: Noun = {
  name: 'credential-providers',
  aliases: ['credential-provider'],
  summary: 'Password managers for logins',
  columns: 'id name provider_type=type enabled priority created_at',
  wide: 'cache_ttl_seconds=cache server_url project_ids=projects',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listCredentialProviders' },
    { name: 'get', op: 'getCredentialProvider' },
    { name: 'create', op: 'createCredentialProvider', flags: providerFlags },
    { name: 'update', op: 'updateCredentialProvider', flags: providerFlags },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteCredentialProvider',
      summary: 'Delete a provider',
      confirm: 'always',
      done: 'Deleted {id}',
    },
    { name: 'test', op: 'testCredentialProvider', endsBySuccess: true },
    { name: 'list-items', op: 'listCredentialProviderItems' },
  ],
}
