import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone, localeOf, speaks } from './locale-of.ts'

test('a country has the language and time zone of most of its people', () => {
  assert.deepEqual(localeOf('DE'), { locale: 'de-DE', timezone: 'Europe/Berlin' })
  assert.deepEqual(localeOf('us'), { locale: 'en-US', timezone: 'America/New_York' })
  assert.deepEqual(localeOf('JP'), { locale: 'ja-JP', timezone: 'Asia/Tokyo' })
  assert.deepEqual(localeOf('BR'), { locale: 'pt-BR', timezone: 'America/Sao_Paulo' })
  for (const none of ['', 'X', 'XX', 'USA', '12', 'ZZ', 'd\0']) assert.equal(localeOf(none), undefined, none)
})

test('every country with a time zone has one that exists', () => {
  const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')
  const found = letters
    .flatMap((a) => letters.map((b) => localeOf(a + b)))
    .filter((each) => each !== undefined)
  assert.ok(found.length > 200, `${found.length} countries`)
  for (const { locale, timezone } of found) {
    assert.ok(isTimeZone(timezone), timezone)
    assert.doesNotThrow(() => new Intl.Locale(locale), locale)
  }
})

test('only names of places are time zones', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])
    assert.ok(isTimeZone(zone), zone)
  for (const none of ['', 'Mars/Base', '+01:00', '-05', 'Europe', '../etc/passwd']) {
    assert.ok(!isTimeZone(none), none)
  }
})

test('speaks ignores the country and uses the language names of Chromium', () => {
  const locales = new Set(['en-US', 'de', 'nb', 'pt-BR', 'zh-TW'])
  for (const spoken of ['de', 'de-AT', 'en-GB', 'no-NO', 'pt-PT', 'ZH-cn'])
    assert.ok(speaks(locales, spoken), spoken)
  for (const none of ['fr', 'd', 'dee-DE', 'fr-DE']) assert.ok(!speaks(locales, none), none)
})
