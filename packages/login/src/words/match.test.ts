import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold, words } from './match.ts'
import { smsWords, totpWords } from './fields.ts'

test('words match at the start of a word, and short words match completely', () => {
  const some = words('=sms | code | pin | two factor')
  for (const text of ['An SMS with it', 'by sms.', 'codes', 'Two-Factor', 'the pin']) {
    assert.ok(some.in(fold(text)), text)
  }
  for (const text of ['smsgate', 'barcode', 'pinned', 'spin', '2sms']) assert.ok(!some.in(fold(text)), text)
})

test('in text without spaces, a foreign word ends with its script', () => {
  for (const text of ['宛にSMSで認証コードを送信しました', 'SMS로 보낸 코드', '我们已通过SMS发送']) {
    assert.ok(smsWords.in(fold(text)), text)
    assert.ok(!totpWords.in(fold(text)), text)
  }
  assert.ok(totpWords.in(fold('認証アプリに表示されているコード')))
  assert.ok(totpWords.in(fold('Google Authenticatorのコード')))
})
