// How Chromium is told what renders.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserStart } from '@berth/contracts/link'
import { chromiumFlags } from './flags.ts'

const flagsOf = (browser: Partial<BrowserStart>) =>
  chromiumFlags({
    browser: { headless: false, width: 800, height: 600, kiosk: false, ...browser },
    profile: '/profile',
    installsExtensions: false,
    devtoolsPort: 9222,
    proxyPort: undefined,
    restores: false,
    hasTabs: false,
  })
const enabled = (flags: readonly string[]) =>
  flags
    .find((flag) => flag.startsWith('--enable-features='))!
    .slice('--enable-features='.length)
    .split(',')

test('with a GPU, Vulkan renders, and nothing else may', () => {
  const flags = flagsOf({ gpu: true })
  for (const flag of ['--use-angle=vulkan', '--disable-vulkan-surface', '--disable-software-rasterizer'])
    assert.ok(flags.includes(flag), flag)
  assert.ok(enabled(flags).includes('Vulkan'))
  assert.ok(!flags.some((flag) => flag.includes('swiftshader')))
  assert.ok(!flags.some((flag) => /no-sandbox|disable-gpu-sandbox/.test(flag)))
  assert.equal(flags.filter((flag) => flag.startsWith('--enable-features=')).length, 1)
})

for (const headless of [true, false]) {
  test(`without one, a program renders WebGL (${headless ? 'headless' : 'headful'})`, () => {
    const flags = flagsOf({ headless })
    assert.ok(flags.includes('--enable-unsafe-swiftshader'))
    assert.ok(!flags.some((flag) => /use-angle=vulkan|ignore-gpu-blocklist/.test(flag)))
    assert.ok(!enabled(flags).includes('Vulkan'))
  })
}
