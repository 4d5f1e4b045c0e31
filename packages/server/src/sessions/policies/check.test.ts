import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPolicy } from './check.ts'

const refused = (policy: Record<string, unknown>, named: RegExp) =>
  assert.throws(() => checkPolicy(policy), { code: 'bad_request', message: named })

test('known policies need the right type, and unknown ones pass', () => {
  const policy = {
    BookmarkBarEnabled: true,
    RestoreOnStartup: 4,
    HomepageLocation: 'https://example.com',
    URLBlocklist: ['example.org'],
    ManagedBookmarks: [{ toplevel_name: 'x' }],
    DefaultSearchProviderEnabled: false,
    OfTheNextVersion: { a: [1] },
  }
  assert.deepEqual(JSON.parse(checkPolicy(policy)), policy)
  refused({ BookmarkBarEnabled: 'yes' }, /chrome_policy\.BookmarkBarEnabled: must be a boolean/)
  refused({ RestoreOnStartup: 1.5 }, /chrome_policy\.RestoreOnStartup: must be an integer/)
  refused({ RestoreOnStartup: 2 ** 31 }, /must be an integer/)
  refused({ HomepageLocation: null }, /must be a string/)
  refused({ URLBlocklist: { 0: 'x' } }, /must be a list/)
})

test('what is Berth\u2019s own is refused by its name, however it is written', () => {
  const names = [
    'ProxyMode',
    'ProxySettings',
    'ProxyPacUrl',
    'proxyserver',
    'ExtensionInstallForcelist',
    'ExtensionInstallBlacklist',
    'ExtensionSettings',
    'EXTENSIONSETTINGS',
    'BlockExternalExtensions',
    'NativeMessagingAllowlist',
    'NativeMessagingUserLevelHosts',
    'RemoteDebuggingAllowed',
    'DeveloperToolsAvailability',
    'DeveloperToolsDisabled',
    'BrowserSwitcherEnabled',
    'AlternativeBrowserPath',
    'WebRtcIPHandling',
    'HeadlessMode',
    'UserDataDir',
    'CloudManagementEnrollmentToken',
  ]
  for (const name of names)
    refused({ [name]: {} }, new RegExp(`chrome_policy\\.${name}: is managed by Berth`))
})

test('size and depth are limited', () => {
  refused({ Long: 'x'.repeat(5 * 1024 * 1024) }, /at most 5 MiB/)
  checkPolicy({ Long: 'x'.repeat(5 * 1024 * 1024 - 100) })
  let deep: unknown = 1
  for (let level = 0; level < 10_000; level++) deep = [deep]
  refused({ Deep: deep }, /chrome_policy\.Deep: is nested deeper/)
  // Names of the prototype are not special.
  checkPolicy(JSON.parse('{"__proto__": 1, "constructor": 2}') as Record<string, unknown>)
})
