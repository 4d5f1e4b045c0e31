import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { codeOf } from './code.ts'
import { emptyDraft } from './draft.ts'
import { requestOf } from './request.ts'

Object.assign(globalThis, { location: { origin: 'http://127.0.0.1:1' } })
const hostile = [`'; rm -rf / #`, '$(id) `id` ${x}', '"\\\n\u2028</script>', '__proto__', "\\'", '%s', '\t🚢']
const request = {
  name: 'a',
  locale: 'de-DE',
  headless: true,
  tags: Object.fromEntries(hostile.map((text, index) => [`${index}${text}`, text])),
  chrome_policy: { A: [1, null, false, { b: hostile }], ['__proto__']: 1 },
}
const options = { request, origin: 'http://127.0.0.1:1', projectId: 'p' }

test('code in TypeScript has exactly the values, whatever they contain', async () => {
  const code = codeOf('TypeScript', options)
  const literal = /create\((.*) as object\)/s.exec(code)![1]
  const module = (await import(
    `data:text/javascript,${encodeURIComponent(`export default ${literal}`)}`
  )) as {
    default: unknown
  }
  assert.equal(JSON.stringify(module.default), JSON.stringify(request))
})

test('code in Python has exactly the values, and the extensions of Berth go into extra_body', () => {
  const code = codeOf('Python', options)
  const call = /create\((.*)\)\nprint/s.exec(code)![1]
  const script = `import json\ndef f(extra_body, **rest): return {**rest, **extra_body}\nprint(json.dumps(f(${call})))`
  const answer = JSON.parse(execFileSync('python3', ['-c', script], { encoding: 'utf8' })) as object
  assert.deepEqual(answer, JSON.parse(JSON.stringify(request)))
  assert.match(code, /extra_body=\{\n\s+"locale"/)
})

test('code for a shell has exactly the values', () => {
  const script = `BERTH_API_KEY=k; printf '%s\\0' ${codeOf('curl', options).slice('curl '.length)}`
  const words = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0')
  assert.deepEqual(JSON.parse(words[words.indexOf('-d') + 1] ?? ''), JSON.parse(JSON.stringify(request)))
  assert.ok(words.includes('Authorization: Bearer k'))
})

test('an empty draft asks for nothing, and what is filled in is asked for', () => {
  assert.deepEqual(requestOf(emptyDraft), { request: {}, problems: {} })
  const { request: asked } = requestOf({
    ...emptyDraft,
    tags: 'team=a=b\n\nx',
    telemetry: 'on',
    categories: ['console', 'control', 'connection', 'system'],
    profile: 'shop',
    saveChanges: true,
    proxy: 'mode:direct',
    width: '800',
    height: '600',
    record: true,
    chromePolicy: '{"HomepageLocation": "x"}',
  })
  assert.deepEqual(asked, {
    tags: { team: 'a=b', x: '' },
    viewport: { width: 800, height: 600 },
    record: true,
    telemetry: { enabled: true, browser: { console: { enabled: true }, captcha: { enabled: false } } },
    profile: { name: 'shop', save_changes: true },
    proxy: { mode: 'direct' },
    chrome_policy: { HomepageLocation: 'x' },
  })
})

test('what cannot be sent is said at its field', () => {
  const { problems } = requestOf({ ...emptyDraft, timeoutSeconds: '1.5', width: '800', chromePolicy: '[1]' })
  assert.deepEqual(Object.keys(problems).toSorted(), ['chrome_policy', 'timeout_seconds', 'viewport'])
})
