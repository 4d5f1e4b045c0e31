// What sessions are made of, and outlives them.
import type { FlagRow, Noun } from '../command/rows.ts'
import { profileFlags, shapeFlags, tagFlag, telemetryFlag } from './shared-flags.ts'

const poolFlags: readonly FlagRow[] = [
  ...shapeFlags,
  ...profileFlags,
  telemetryFlag,
  { flags: '--fill-rate <number>', field: 'fill_rate_per_minute' },
]

export const pools: Noun = {
  name: 'pools',
  aliases: ['browser-pools', 'browser-pool', 'pool'],
  summary: 'Browsers that wait to be leased',
  columns: 'id name browser_pool_config.size=size available_count=available acquired_count=leased created_at',
  wide: 'browser_pool_config.headless=headless browser_pool_config.stealth=stealth browser_pool_config.timeout_seconds=timeout region',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listBrowserPools' },
    {
      name: 'create',
      op: 'createBrowserPool',
      args: '[name]',
      flags: [{ flags: '--name <text>', field: 'name' }, ...poolFlags],
      wait: {
        help: 'Until every browser of the pool is ready',
        load: () => import('../sessions/wait-for-pool.ts'),
      },
    },
    { name: 'get', op: 'getBrowserPool' },
    {
      name: 'update',
      op: 'updateBrowserPool',
      flags: [
        ...poolFlags,
        { flags: '--clear-profile', field: 'profile', always: { id: '' }, help: 'Use no profile any more' },
        { flags: '--clear-proxy', field: 'proxy_id', always: '', help: 'Use no proxy any more' },
        { flags: '--clear-start-url', field: 'start_url', always: '', help: 'Open no page any more' },
        { flags: '--clear-extensions', field: 'extensions', always: [], help: 'Load no extensions any more' },
        {
          flags: '--clear-private-hosts',
          field: 'network',
          always: {},
          help: 'Reach no private hosts any more',
        },
        {
          flags: '--clear-chrome-policy',
          field: 'chrome_policy',
          always: {},
          help: 'Set no policies any more',
        },
      ],
      wait: {
        help: 'Until every browser of the pool is ready',
        load: () => import('../sessions/wait-for-pool.ts'),
      },
    },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteBrowserPool',
      summary: 'Delete a pool',
      confirm: 'terminal',
      done: 'Deleted {id}',
    },
    {
      name: 'acquire',
      op: 'acquireBrowser',
      summary: 'Lease a browser; the answer is null if none is free in time',
      flags: [tagFlag, telemetryFlag, { flags: '--timeout <seconds>', field: 'acquire_timeout_seconds' }],
      run: () => import('../sessions/acquire.ts'),
    },
    { name: 'release', op: 'releaseBrowser', done: 'Released' },
    {
      name: 'flush',
      op: 'flushBrowserPool',
      summary: 'Replace the browsers that nobody leases',
      done: 'Flushed {id}',
    },
  ],
}

export const profiles: Noun = {
  name: 'profiles',
  aliases: ['profile'],
  summary: 'Cookies, storage and tabs that outlive a session',
  columns: 'id name version size_bytes updated_at last_used_at=last_used',
  wide: 'created_at is_saving=saving',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listProfiles' },
    { name: 'get', op: 'getProfile' },
    {
      name: 'create',
      op: 'createProfile',
      args: '[name]',
      flags: [{ flags: '--name <text>', field: 'name' }],
    },
    { name: 'update', op: 'updateProfile' },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteProfile',
      summary: 'Delete a profile',
      confirm: 'always',
      done: 'Deleted {id}',
    },
    {
      name: 'download',
      op: 'downloadProfile',
      summary: 'Download a profile: into a directory, or as an archive',
      flags: [
        {
          flags: '--to <place>',
          help: 'A directory to unpack it into; a file if it ends with .tar or .tar.zst; - is stdout',
        },
      ],
      run: () => import('../sessions/download-profile.ts'),
    },
    {
      name: 'import',
      op: 'importProfile',
      summary: 'Make a version of a profile from an archive',
      args: '<id-or-name> <file>',
      run: () => import('../sessions/import-profile.ts'),
    },
    {
      name: 'versions',
      op: 'listProfileVersions',
      columns: 'version is_current=current source size_bytes created_at',
      wide: 'based_on conflicts_with session_id',
    },
    {
      name: 'restore',
      op: 'restoreProfileVersion',
      summary: 'Make an older version the current one',
      confirm: 'terminal',
    },
  ],
}

export const proxies: Noun = {
  name: 'proxies',
  aliases: ['proxy'],
  summary: 'Proxies that sessions leave by',
  columns: 'id name type protocol status ip_address=address',
  wide: 'config.host=host config.port=port config.country=country last_checked=checked created_at',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listProxies' },
    { name: 'get', op: 'getProxy' },
    {
      name: 'create',
      op: 'createProxy',
      flags: [
        ...(['host', 'country', 'state', 'city', 'zip', 'asn', 'os', 'carrier', 'username'] as const).map(
          (name) => ({
            flags: `--${name} <text>`,
            field: `config.${name}`,
          }),
        ),
        { flags: '--port <number>', field: 'config.port', as: 'integer' },
        {
          flags: '--password <text>',
          field: 'config.password',
          help: 'The password; @FILE or - (stdin) keeps it out of the shell history',
          as: 'secret',
        },
        {
          flags: '--ca-bundle <file>',
          field: 'config.ca_bundle',
          as: 'file-text',
          help: 'Certificates to trust behind the proxy, as a PEM file',
        },
        {
          flags: '--bypass-host <pattern>',
          field: 'bypass_hosts',
          as: 'strings',
          help: 'A host that is reached without the proxy; repeat it for more',
        },
      ],
    },
    { name: 'update', op: 'updateProxy' },
    { name: 'check', op: 'checkProxy', summary: 'Send a request through the proxy' },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteProxy',
      summary: 'Delete a proxy',
      confirm: 'always',
      done: 'Deleted {id}',
    },
  ],
}

export const extensions: Noun = {
  name: 'extensions',
  aliases: ['extension'],
  summary: 'Extensions that sessions load',
  columns: 'id name manifest.name=extension manifest.version=version size_bytes created_at',
  wide: 'last_used_at checksum',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listExtensions' },
    { name: 'get', op: 'getExtension' },
    {
      name: 'upload',
      op: 'uploadExtension',
      args: '<directory>',
      summary: 'Upload an extension: its directory, or a zip or crx file',
      without: ['file'],
      run: () => import('../sessions/upload-extension.ts'),
    },
    { name: 'download', op: 'downloadExtension', summary: 'Download the archive of an extension' },
    {
      name: 'download-web-store',
      op: 'downloadFromChromeStore',
      args: '<url>',
      summary: 'Download an extension from the Chrome Web Store',
    },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteExtension',
      summary: 'Delete an extension',
      confirm: 'always',
      done: 'Deleted {id}',
    },
  ],
}
