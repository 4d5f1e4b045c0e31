import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsPolicyInstall, readManifest, rootOf } from '@berth/contracts/extension-manifest'

const manifest = (fields: object = {}) =>
  JSON.stringify({ manifest_version: 3, name: 'x', version: '1', ...fields })

test('a manifest is read as Chromium reads it, with comments and a byte order mark', () => {
  const { name, version, key, permissions } = readManifest(
    `\uFEFF// first\n${manifest({ name: 'a // b /* c */', version: '1.2.3.65535', key: 'k', permissions: ['tabs', 1] })}/* last */`,
  )
  assert.deepEqual(
    { name, version, key, permissions },
    { name: 'a // b /* c */', version: '1.2.3.65535', key: 'k', permissions: ['tabs'] },
  )
  assert.equal(readManifest(manifest({ homepage_url: 'https://x/*', short_name: '\\"//' })).key, undefined)
})

test('a manifest that Chromium would refuse is refused with the reason', () => {
  const refused: [string, RegExp][] = [
    ['{', /not JSON/],
    ['null', /not a JSON object/],
    [manifest({ manifest_version: 2 }), /version 2, which Chromium no longer runs/],
    [manifest({ manifest_version: '3' }), /"manifest_version": 3/],
    [manifest({ name: ' ' }), /no "name"/],
    ...['', '1.', '01', '1.2.3.4.5', '65536', '1.x', '-1'].map((version): [string, RegExp] => [
      manifest({ version }),
      /"version"/,
    ]),
  ]
  for (const [text, why] of refused) assert.throws(() => readManifest(text), { message: why }, text)
})

test('the root of an extension is the root of its archive or its only directory', () => {
  assert.equal(rootOf(['manifest.json', 'a/manifest.json']), '')
  assert.equal(rootOf(['x', 'x/manifest.json', 'x/a.js', '__MACOSX/x/a', '.DS_Store']), 'x/')
  for (const none of [[], ['a.js'], ['x/y/manifest.json'], ['x/manifest.json', 'y/a.js']]) {
    assert.equal(rootOf(none), undefined)
  }
})

const needs = (...permissions: string[]) => needsPolicyInstall(readManifest(manifest({ permissions })))

test('extensions that need an administrator are recognised by their permissions', () => {
  assert.ok(needs('tabs', 'webRequestBlocking'))
  assert.ok(needs('enterprise.hardwarePlatform'))
  assert.ok(!needs('tabs', 'webRequest', 'nativeMessaging', 'debugger'))
})
