// The login engine against sites of the zoo, with a real agent and Chromium: with a person who answers as the site
// expects, and alone with a credential. test:full runs every site once. ZOO=all runs every variant of every site,
// ZOO_AT_ONCE of them in parallel (3), which takes most of an hour.
import assert from 'node:assert/strict'
import test, { suite } from 'node:test'
import { login } from '@berth/login/engine/login'
import { allowedHosts } from '@berth/login/hosts/hosts'
import type { Checks, Plan } from '@berth/login/run/memory'
import type { Mode } from '../fixtures/login-at-place.ts'
import { runAtZoo } from '../fixtures/login-at-zoo.ts'
import { PageActionsUnderTest } from '../fixtures/login-page-actions.ts'
import { knownValuesOf } from '../fixtures/login-person.ts'
import { sites } from '../fixtures/login-zoo/sites.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { isFull, sample } from '../tiers.ts'

/** One of every kind; the others only look different. */
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
  ['error-alert', 'an ordinary word as password', 'attended'],
  ['captcha-beside', 'right', 'attended'],
]

/** With a person, and slow. */
const shownInFull: typeof shown = [
  ['identity-sources', 'right', 'attended'],
  ['unfound-login', 'right', 'attended'],
]

const all = sites.flatMap(({ name, variants }) =>
  variants.flatMap((variant) => {
    const modes: readonly Mode[] = variant.lacks ? ['alone'] : ['attended', 'alone']
    return modes.map((mode) => [name, variant.name, mode] as const)
  }),
)

/** These, and every other site once. */
const everySite = [
  ...shown,
  ...shownInFull,
  ...sites
    .filter(({ name }) => !shown.some(([site]) => site === name))
    .map(({ name, variants }) => [name, variants[0]!.name, 'alone'] as const),
]

const { ZOO, ZOO_AT_ONCE = '3' } = process.env
const isAll = ZOO === 'all'
const walked = isAll ? all : isFull() ? everySite : sample(shown, 'loginsShown')

suite('the zoo', { concurrency: !isAll && !isFull() ? 1 : Number(ZOO_AT_ONCE) }, () => {
  for (const [name, variantName, mode] of walked) {
    test(`${name}: ${variantName}, ${mode}`, async (t) => {
      const description = sites.find((each) => each.name === name)!
      const variant = description.variants.find((each) => each.name === variantName)!
      assert.equal(await runAtZoo(t, description, variant, mode), 'as described')
    })
  }
})

for (const name of sample(['classic-form', 'random-names', 'email-first', 'unlinked-login'], 'loginPlans')) {
  test(`${name}: a logged-in session is not changed; a logged-out one follows the stored plan while it fits the page`, async (t) => {
    const description = sites.find((each) => each.name === name)!
    const site = (await startZoo(t, [description])).site(name)
    const pageActions = await PageActionsUnderTest.start(t)
    const variant = description.variants[0]!
    const again = async (memory?: { plan: Plan | undefined; checks: Checks; loginUrl: string }) => {
      const { loginUrl } = site
      const outcome = await login({
        pageActions,
        domain: site.domain,
        allowedDomains: site.allowedDomains,
        known: knownValuesOf(site.user(variant.user), variant, {
          ssoProvider: site.description.ssoProvider,
          hosts: allowedHosts(site.domain, site.allowedDomains),
        }),
        isAttended: false,
        plan: memory?.plan,
        checks: memory?.checks,
        loginUrl: memory?.loginUrl ?? loginUrl,
        onState: () => {},
        submitted: () => Promise.reject(new Error('Nobody is there')),
        signal: AbortSignal.timeout(90_000),
      })
      assert.ok(outcome.isSuccess, JSON.stringify(outcome))
      return outcome
    }
    const first = await again()
    const secrets = [...pageActions.hidden].filter((value) => value.length > 3)
    const kept = JSON.stringify([first.plan, first.checks])
    assert.ok(!secrets.some((secret) => kept.includes(JSON.stringify(secret).slice(1, -1))))

    const acts = pageActions.acts.length
    await again(first)
    assert.equal(pageActions.acts.length, acts)

    site.signOut()
    await again(first)
    assert.deepEqual(site.signedIn, [variant.user])
  })
}
