// Huge and hostile pages: their snapshots stay within the limits of size and time.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Ajv } from 'ajv'
import { MAX_ELEMENTS, MAX_FRAMES, PageSnapshot } from '@berth/contracts/page-snapshot'
import { sharedLogin } from '../../fixtures/agent/shared-login.ts'

const MAX_CHARACTERS = 4_000_000
/** Extra time beyond the requested wait. */
const MAX_MS = 9_000
const MAX_LOOKS = 4
const check = new Ajv({ strict: true, allowUnionTypes: true }).compile<PageSnapshot>(PageSnapshot)

/** A busy machine may not have shown everything within the time of the first look. */
async function seenAtLast(
  isSeen: (snapshot: PageSnapshot) => void,
  first: PageSnapshot,
  look: () => Promise<PageSnapshot>,
): Promise<void> {
  let snapshot = first
  for (let looks = 1; looks < MAX_LOOKS; looks++) {
    try {
      return isSeen(snapshot)
    } catch {
      snapshot = await look()
    }
  }
  isSeen(snapshot)
}

suite('floods', () => {
  const shared = sharedLogin()

  const floods: Record<string, { page: string; isSeen?: (snapshot: PageSnapshot) => void }> = {
    '10,000 inputs with long names': {
      page: `<script>document.write(Array.from({ length: 10000 }, (_, i) => '<input name="' + i + 'x'.repeat(5000) + '" placeholder="' + '\\\\"'.repeat(500) + '">').join(''))</script>`,
      isSeen: ({ elements }) => assert.equal(elements.length, MAX_ELEMENTS),
    },
    '50 MB of text': {
      page: `<h1>Long</h1><script>for (let i = 0; i < 500; i++) document.body.append(document.createElement('p').textContent = 'lorem ipsum '.repeat(9000))</script>`,
    },
    '2 MB of text': {
      page: `<h1>Long</h1><script>for (let i = 0; i < 20; i++) document.body.append(document.createElement('p').textContent = 'lorem ipsum '.repeat(9000))</script>`,
      isSeen: ({ frames }) => assert.match(frames[0]!.text, /lorem/),
    },
    'one text of 50 MB': { page: `<h1>Long</h1><script>document.body.append('a'.repeat(50e6))</script>` },
    'a select with 20,000 options': {
      page: `<select name="s"><script>document.querySelector('select').innerHTML = Array.from({ length: 20000 }, (_, i) => '<option value="' + 'v'.repeat(400) + i + '">' + 'l'.repeat(400)).join('')</script>`,
      isSeen: ({ elements }) => assert.ok(elements[0]!.options.length <= 60),
    },
    'a hundred frames': {
      page: `<script>for (let i = 0; i < 100; i++) { const frame = document.createElement('iframe'); frame.srcdoc = '<input name=f' + i + '>'; document.body.append(frame) }</script>`,
      isSeen: ({ frames }) => assert.equal(frames.length, MAX_FRAMES),
    },
    'frames full of forms with long texts': {
      page: `<script>const form = (i) => '<form id="f' + i + '" action="/' + '%41'.repeat(1300) + '"><input name="a' + i + '"><p>' + '\u0001word '.repeat(900) + '</p></form>'
        const all = Array.from({ length: 40 }, (_, i) => form(i)).join('')
        for (let i = 0; i < 6; i++) { const frame = document.createElement('iframe'); frame.srcdoc = all; document.body.append(frame) }</script>`,
    },
    'elements a thousand deep': {
      page: `<script>let at = document.body; for (let i = 0; i < 3000; i++) at = at.appendChild(document.createElement('div')); at.innerHTML = '<input name="deep">'</script>`,
    },
    'endless changes': {
      page: `<input name="user"><p></p><script>const p = document.querySelector('p'); setInterval(() => { for (let i = 0; i < 200; i++) p.append(document.createElement('b')); if (p.childNodes.length > 2000) p.textContent = '' }, 1)</script>`,
      isSeen: ({ is_quiet, elements }) => {
        assert.equal(is_quiet, false)
        assert.equal(elements[0]!.name, 'user')
      },
    },
    'endless requests': {
      page: `<input name="user"><script>const ask = () => fetch('/nothing?' + Math.random()).finally(ask); for (let i = 0; i < 20; i++) ask()</script>`,
      isSeen: ({ elements }) => assert.equal(elements[0]!.name, 'user'),
    },
    'endless addresses': {
      page: `<input name="user"><script>setInterval(() => history.replaceState(null, '', '?' + Math.random() + 'x'.repeat(9000)), 5)</script>`,
      isSeen: ({ url }) => assert.ok(url.length <= 4096),
    },
    'a document that goes to itself': {
      page: `<h1>Round</h1><script>setTimeout(() => location.reload(), 30)</script>`,
    },
    'a script without end': { page: `<h1>Busy</h1><script>setTimeout(() => { for (;;); }, 300)</script>` },
    'names that hide what documents have': {
      page: `<form name="hasFocus"><input name="parentElement"><input name="isConnected"><input name="querySelectorAll"></form>
        <form name="activeElement"></form><form name="readyState"></form><img name="querySelectorAll"><img name="getElementById"><img name="elementFromPoint">`,
      isSeen: ({ elements }) => assert.equal(elements.length, 3),
    },
  }
  for (const [name, { page, isSeen }] of Object.entries(floods)) {
    test(`${name} stay within the limits`, async (t) => {
      const login = shared()
      login.pages['/flood'] = `<body>${page}`
      const began = performance.now()
      const snapshot = await login.visit('/flood', { quiet_ms: 300, most_ms: 3_000 })
      const ms = Math.round(performance.now() - began)
      const { length } = JSON.stringify(snapshot)
      t.diagnostic(`${ms} ms, ${length} characters`)
      assert.ok(check(snapshot), JSON.stringify(check.errors))
      assert.ok(length <= MAX_CHARACTERS)
      assert.ok(ms <= 3_000 + MAX_MS)
      if (isSeen)
        await seenAtLast(isSeen, snapshot, () => login.visit('/flood', { quiet_ms: 300, most_ms: 20_000 }))
      // The next page works normally, even if the flood reloads itself in between.
      login.pages['/after'] = '<title>After</title><input name="user">'
      let next = await login.visit('/after')
      for (let visits = 1; next.frames[0]!.title !== 'After' && visits < 6; visits++)
        next = await login.visit('/after')
      assert.equal(next.frames[0]!.title, 'After')
      assert.equal((await login.fill(next.elements[0]!.ref, 'anna')).result, 'done')
    })
  }
})
