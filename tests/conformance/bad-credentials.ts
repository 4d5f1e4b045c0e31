// Every kind of request without a valid key.
import type { IssuedKey } from './fixture-keys.ts'

export interface BadCredential {
  readonly what: string
  readonly headers: readonly (readonly [string, string])[]
}

export function badCredentials(keys: {
  valid: IssuedKey
  expired: string
  deleted: string
}): BadCredential[] {
  const { key, masked_key: masked } = keys.valid
  const [, publicId = ''] = key.split('_')
  const bearer = (what: string, token: string) => ({ what, headers: [authorization(`Bearer ${token}`)] })
  return [
    { what: 'no Authorization', headers: [] },
    { what: 'an empty Authorization', headers: [authorization('')] },
    { what: 'a scheme without a key', headers: [authorization('Bearer ')] },
    { what: 'another scheme', headers: [authorization('Basic x')] },
    { what: 'the key under another scheme', headers: [authorization(`Basic ${btoa(`${key}:`)}`)] },
    { what: 'the key without a scheme', headers: [authorization(key)] },
    {
      what: 'two Authorization headers',
      headers: [authorization(`Bearer ${key}`), authorization(`Bearer ${key}`)],
    },
    {
      what: 'a wrong and a right Authorization',
      headers: [authorization('Bearer x'), authorization(`Bearer ${key}`)],
    },
    { what: 'the key as a cookie', headers: [['Cookie', `Authorization=Bearer ${key}`]] },
    { what: 'the key in another header', headers: [['X-Api-Key', key]] },
    bearer('a key with its last character changed', changed(key, key.length - 1)),
    bearer('a key with its first secret character changed', changed(key, key.length - 32)),
    bearer('a key with its public id changed', changed(key, 3)),
    bearer('the right public id with another secret', `sk_${publicId}_${'x'.repeat(32)}`),
    bearer('only the public id', `sk_${publicId}`),
    bearer('the masked key', masked),
    bearer('a key in upper case', key.toUpperCase()),
    bearer('a key of 4 KB', key.padEnd(4096, 'x')),
    bearer('two keys with a comma', `${key},${key}`),
    bearer('a key and a word', `${key} x`),
    bearer('a key after two spaces', ` ${key}`),
    // A plain space at the end is not part of a header's value (RFC 9110, 5.5); this one is.
    bearer('a key with a no-break space at its end', `${key}\u{a0}`),
    bearer('a key in Latin-1', 'sk_\u{e9}\u{e8}\u{ff}'),
    bearer('a key in UTF-8', Buffer.from('sk_ключ_\u{1f511}').toString('latin1')),
    bearer('an SQL string', `' OR '1'='1`),
    bearer('an expired key', keys.expired),
    bearer('a deleted key', keys.deleted),
  ]
}

function authorization(value: string): [string, string] {
  return ['Authorization', value]
}

function changed(text: string, index: number): string {
  return text.slice(0, index) + (text[index] === 'a' ? 'b' : 'a') + text.slice(index + 1)
}
