import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reauthOf, type ReauthFacts } from './reauth.ts'

const stored = { isExternal: false, valueKeys: ['email', 'password'], hasTotp: false, hasMailbox: false }
const external = { isExternal: true, valueKeys: undefined, hasTotp: undefined, hasMailbox: false }
const facts: ReauthFacts = {
  hasSucceeded: true,
  credential: stored,
  requirements: ['identifier', 'password'],
  hasPlan: false,
  hasSolver: false,
}

const cases: [string, Partial<ReauthFacts>, boolean, string][] = [
  ['never logged in', { hasSucceeded: false }, false, 'no_prior_successful_login'],
  ['no credential', { credential: undefined }, false, 'no_credential'],
  ['all that was needed is stored', {}, true, 'requirements_satisfiable'],
  ['and the way is known', { hasPlan: true }, true, 'viable_plans_found'],
  ['nothing was recorded', { requirements: null }, true, 'no_requirements_recorded'],
  ['nothing was needed', { requirements: [] }, true, 'has_credential'],
  ['an item of a provider', { credential: external }, true, 'external_credential'],
  [
    'a mail with a mailbox',
    { requirements: ['identifier', 'email_code'], credential: { ...stored, hasMailbox: true } },
    true,
    'requirements_satisfiable',
  ],
  ['a link by mail', { requirements: ['identifier', 'email_link'] }, false, 'requires_external_action'],
  [
    'a link by mail with a mailbox',
    { requirements: ['identifier', 'email_link'], credential: { ...stored, hasMailbox: true } },
    true,
    'requirements_satisfiable',
  ],
  ['a push', { requirements: ['password', 'external_action'] }, false, 'requires_external_action'],
  [
    'a push in a plan',
    { requirements: ['external_action'], hasPlan: true },
    false,
    'viable_plans_require_external_action',
  ],
  [
    'a push with a provider',
    { requirements: ['external_action'], credential: external },
    false,
    'requires_external_action',
  ],
  ['a captcha', { requirements: ['password', 'captcha'] }, false, 'requires_external_action'],
  [
    'a captcha with a solver',
    { requirements: ['identifier', 'password', 'captcha'], hasSolver: true },
    true,
    'requirements_satisfiable',
  ],
  ['a text message', { requirements: ['sms_code'] }, false, 'requires_sms_code'],
  [
    'a text message with a provider',
    { requirements: ['sms_code'], credential: external },
    false,
    'requires_sms_code',
  ],
  ['an e-mail', { requirements: ['email_code'] }, false, 'requires_email_code'],
  ['a code of an app', { requirements: ['password', 'totp'] }, false, 'requires_totp_without_secret'],
  ['a code of an unknown kind', { requirements: ['code'] }, false, 'requires_totp_without_secret'],
  [
    'a code whose secret is stored',
    { requirements: ['password', 'totp'], credential: { ...stored, hasTotp: true } },
    true,
    'requirements_satisfiable',
  ],
  ['a choice that is in the plan', { requirements: ['choice'], hasPlan: true }, true, 'viable_plans_found'],
  ['a choice', { requirements: ['choice'] }, false, 'no_viable_plans'],
  [
    'no password stored',
    { credential: { ...stored, valueKeys: ['email'] }, hasPlan: true },
    false,
    'requires_customer_input',
  ],
  [
    'a company id besides',
    { requirements: ['text', 'identifier', 'password'] },
    false,
    'requires_customer_input',
  ],
  [
    'a company id that is stored',
    {
      requirements: ['text', 'identifier', 'password'],
      credential: { ...stored, valueKeys: ['company_id', 'email', 'password'] },
    },
    true,
    'requirements_satisfiable',
  ],
]

for (const [what, change, can, reason] of cases) {
  test(`${what}: ${reason}`, () => {
    assert.deepEqual(reauthOf({ ...facts, ...change }), { can, reason })
  })
}
