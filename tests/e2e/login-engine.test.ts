// The login engine against sites of the zoo, with a real agent and Chromium and nothing else: attended by somebody who
// answers as the site expects it, and alone with a credential. With ZOO=all every variant of every site, which takes most
// of an hour.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Mode } from '../fixtures/login-at-place.ts'
import { runAtZoo } from '../fixtures/login-at-zoo.ts'
import { sites } from '../fixtures/login-zoo/sites.ts'

/** One of every idea; the others differ in their looks. */
const shown: readonly (readonly [site: string, variant: string, mode: Mode])[] = [
  ['classic-form', 'right', 'attended'],
  ['classic-form', 'wrong password', 'attended'],
  ['classic-form', 'wrong password', 'alone'],
  ['email-first', 'second factor: app', 'alone'],
  ['dialog', 'right', 'alone'],
  ['cross-origin-frame', 'right', 'alone'],
  ['shadow-roots', 'right', 'alone'],
  ['local-storage', 'right', 'alone'],
  ['through-links', 'right', 'alone'],
  ['sso-popup', 'right', 'alone'],
  ['totp-six-boxes', 'right', 'alone'],
  ['sms-code', 'right', 'attended'],
  ['push-approval', 'right', 'attended'],
  ['account-picker', 'right', 'attended'],
  ['terms-checkbox', 'right', 'alone'],
  ['basic-auth', 'right', 'alone'],
  ['locked', 'stopped', 'alone'],
  ['phishing-redirect', 'stopped', 'alone'],
  ['echo', 'wrong password', 'attended'],
]

const all = sites.flatMap(({ name, variants }) =>
  variants.flatMap((variant) => {
    const modes: readonly Mode[] = variant.lacks ? ['alone'] : ['attended', 'alone']
    return modes.map((mode) => [name, variant.name, mode] as const)
  }),
)

for (const [name, variantName, mode] of process.env['ZOO'] === 'all' ? all : shown) {
  test(`${name}: ${variantName}, ${mode}`, async (t) => {
    const description = sites.find((each) => each.name === name)!
    const variant = description.variants.find((each) => each.name === variantName)!
    assert.equal(await runAtZoo(t, description, variant, mode), 'as described')
  })
}
