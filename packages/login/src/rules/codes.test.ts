// Fields for codes: which code, and whether a stored secret can answer.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import { button, field, page } from '../../../../tests/fixtures/page-snapshots.ts'
import { OneTimeCodes } from '../engine/one-time-codes.ts'
import { readPage } from './read-page.ts'

const codes = new OneTimeCodes(
  {
    values: {},
    totp: () => ({ code: '493017', validFrom: new Date(0), expiresAt: new Date(Date.now() + 60_000) }),
    ssoProvider: undefined,
    hosts: [],
  },
  () => true,
  new AbortController().signal,
)

const read = (given: Partial<ElementSnapshot>, text = '') =>
  readPage(page({ text, elements: [field({ name: 'code', ...given }), button('Verify')] })).form?.fields[0]

test('a field for a code of the app or a recovery code is answered with the stored secret', () => {
  for (const words of [
    'Enter the code from your app, or a recovery code',
    'Authentication code or recovery code',
    'Verification code (or backup code)',
    'Code aus der App oder Wiederherstellungscode',
    "Code de l'application ou code de récupération",
    'Código de la aplicación o código de recuperación',
    "Codice dell'app o codice di recupero",
    'Код из приложения или резервный код',
    '認証アプリのコードまたはリカバリーコード',
    '验证码或备用码',
    '인증 앱 코드 또는 복구 코드',
  ]) {
    for (const given of [{ label: words }, { placeholder: words }, { label: 'Code', near: words }]) {
      const found = read(given, words)
      assert.ok(found && codes.covers(found), `${words} ${JSON.stringify(found)}`)
    }
  }
})

test('a field for nothing but a backup code is left to the person', () => {
  for (const words of [
    'Backup code',
    'Enter one of your recovery codes',
    'Wiederherstellungscode',
    'Code de récupération',
    'Резервный код',
    'バックアップコード',
    '恢复码',
  ]) {
    for (const text of ['', 'Lost your phone? Use the code from your authenticator app instead.']) {
      const found = read({ label: words }, `${words}\n${text}`)
      assert.equal(found?.ref, 'backup_code', words)
      assert.ok(!codes.covers(found), words)
    }
  }
  assert.equal(read({ label: 'Code', name: 'recovery_code' })?.ref, 'backup_code')
})

test('a link to backup codes does not hide how the code is sent', () => {
  const text = 'We sent a text message with a code to +•• ••• ••92.\nUse a recovery code'
  assert.equal(read({ label: 'Code' }, text)?.mfaType, 'sms')
})
