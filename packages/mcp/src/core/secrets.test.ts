import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskBody, maskHeaders, maskTyped, Secrets } from './secrets.ts'

const KEY = 'berth_0123456789abcdef'
const secrets = new Secrets([KEY, 'short'])

test('tokens in addresses, keys and bearer tokens are masked, and nothing else', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzaWQiOiJhIn0.abcdefghijklmnop'
  const cases: [string, string][] = [
    [`key ${KEY}!`, 'key [masked]!'],
    [`ws://host/cdp?jwt=${jwt}`, 'ws://host/cdp?jwt=[masked]'],
    [`it is ${jwt}.`, 'it is [masked].'],
    [
      'https://a.example/?q=ship&access_token=abc123&x=1',
      'https://a.example/?q=ship&access_token=[masked]&x=1',
    ],
    ['https://a.example/cb#id_token=abc', 'https://a.example/cb#id_token=[masked]'],
    ['Authorization: Bearer abcdefghij', 'Authorization: Bearer [masked]'],
    ['a short word, a basic rule, token=outside', 'a short word, a basic rule, token=outside'],
  ]
  for (const [text, masked] of cases) assert.equal(secrets.mask(text), masked)
})

test('a page cannot make masking slow', () => {
  const texts = ['-eyJ', 'eyJ', '?a-', '?token', 'bearer ', '"a":"', '&_']
  const began = performance.now()
  for (const text of texts) secrets.mask(text.repeat(2_000_000 / text.length))
  maskBody('"a":"'.repeat(10_000))
  assert.ok(performance.now() - began < 20_000, `${performance.now() - began} ms`)
})

test('only known secrets are masked in what the caller asked for', () => {
  assert.equal(secrets.maskKnown(`${KEY} ?token=abc`), '[masked] ?token=abc')
})

test('headers and bodies that are named like secrets are masked', () => {
  assert.deepEqual(maskHeaders({ Cookie: 'a=b', Accept: '*/*', 'SET-COOKIE': ['x'] }), {
    Cookie: '[masked]',
    Accept: '*/*',
    'SET-COOKIE': '[masked]',
  })
  assert.equal(
    maskBody('user=a&password=b%20c&user%5Bsecret=1'),
    'user=a&password=[masked]&user%5Bsecret=[masked]',
  )
  assert.equal(maskBody('{"user":"a","api_key": "b\\"c","n":1}'), '{"user":"a","api_key": "[masked]","n":1}')
  assert.equal(maskBody('%E0%A4%A=x'), '%E0%A4%A=x')
})

test('what is typed into a password field is masked in its line only', () => {
  const snapshot = [
    '- textbox "User" [ref=e1]: hunter',
    '  - textbox "Password" [active] [ref=e2]: hunter2',
    '- paragraph [ref=e3]: hunter2 is a word',
    '- textbox [ref=e4]: "say: \\"x\\""',
  ].join('\n')
  assert.equal(
    maskTyped(snapshot, ['hunter2', 'say: "x"']),
    [
      '- textbox "User" [ref=e1]: hunter',
      '  - textbox "Password" [active] [ref=e2]: [masked]',
      '- paragraph [ref=e3]: hunter2 is a word',
      '- textbox [ref=e4]: [masked]',
    ].join('\n'),
  )
})
