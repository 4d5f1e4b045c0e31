import assert from 'node:assert/strict'
import { test } from 'node:test'
import { destination, readPlace } from './place.ts'

const read = (end: string) => readPlace(new URL(`https://berth.example/auth/hosted/abc${end}`))

test('parameters are found wherever a caller puts them', () => {
  const expected = {
    connectionId: 'abc',
    code: 'secret',
    successUrl: 'https://app.example/done',
    errorUrl: undefined,
  }
  const done = encodeURIComponent('https://app.example/done')
  assert.deepEqual(read(`?success_url=${done}#code=secret`), expected)
  assert.deepEqual(read(`#code=secret&success_url=${done}`), expected)
  assert.deepEqual(read(`#code=secret?success_url=${done}`), expected)
  assert.deepEqual(read('#code=secret'), { ...expected, successUrl: undefined })
  // A code that was sent to servers is not accepted.
  assert.equal(read('?code=secret').code, undefined)
})

test('the page ends at a registered address, and never at one that runs or shows something here', () => {
  const registered = ['https://app.example/done', 'my-app://done', 'javascript:alert(1)', 'data:text/html,x']
  const ours = { profile_name: 'me & you', domain: 'example.com', code: undefined }
  assert.equal(
    destination('https://app.example/done?state=1', registered, ours),
    'https://app.example/done?state=1&profile_name=me+%26+you&domain=example.com',
  )
  assert.equal(
    destination('my-app://done', registered, ours),
    'my-app://done?profile_name=me+%26+you&domain=example.com',
  )
  const refused = [
    undefined,
    '',
    '/done',
    'done',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'blob:https://a.example/1',
    'https://evil.example/done',
    'https://app.example/done/../other',
    'https://app.example.evil.example/done',
    'https://app.example@evil.example/done',
    'https://me@app.example/done',
    'http://app.example/done',
    'https://app.example:444/done',
    'https://app.example/',
  ]
  for (const address of refused) assert.equal(destination(address, registered, ours), undefined, address)
})
