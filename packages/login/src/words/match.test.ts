import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold, words } from './match.ts'
import { smsWords, totpWords } from './fields.ts'

test('a word begins where that of the text does, and a short one ends with it', () => {
  const some = words('=sms | code | pin | two factor')
  for (const text of ['An SMS with it', 'by sms.', 'codes', 'Two-Factor', 'the pin']) {
    assert.ok(some.in(fold(text)), text)
  }
  for (const text of ['smsgate', 'barcode', 'pinned', 'spin', '2sms']) assert.ok(!some.in(fold(text)), text)
})

test('in a text without spaces a foreign word ends where its script does', () => {
  for (const text of ['宛にSMSで認証コードを送信しました', 'SMS로 보낸 코드', '我们已通过SMS发送']) {
    assert.ok(smsWords.in(fold(text)), text)
    assert.ok(!totpWords.in(fold(text)), text)
  }
  assert.ok(totpWords.in(fold('認証アプリに表示されているコード')))
  assert.ok(totpWords.in(fold('Google Authenticatorのコード')))
})
