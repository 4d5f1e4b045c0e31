import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidateIn, newestDateIn, readBrowserAge, warningsAbout } from './browser-age.ts'

const now = new Date('2026-11-17T00:00:00Z')
const fresh = new Date('2026-11-10T00:00:00Z')

test('a Chromium that is the newest and two weeks old or less is no reason to warn', () => {
  assert.deepEqual(warningsAbout({ installed: '1', offered: '1', releasedAt: fresh }, now), [])
  assert.deepEqual(warningsAbout({ installed: '1', offered: undefined, releasedAt: undefined }, now), [])
})

test('a newer version and an old age are warnings that name the remedy', () => {
  const releasedAt = new Date('2026-11-01T00:00:00Z')
  assert.deepEqual(warningsAbout({ installed: '1', offered: '2', releasedAt }, now), [
    'Chromium is 1, but Debian offers 2: run npm run update-browser',
    'Chromium 1 was released 16 days ago: run npm run update-browser',
  ])
})

test('reads what the package manager prints', () => {
  assert.equal(candidateIn('chromium:\n  Installed: 1\n  Candidate: 156.0-1~deb12u1\n'), '156.0-1~deb12u1')
  assert.equal(candidateIn('chromium:\n  Candidate: (none)\n'), undefined)
  assert.equal(candidateIn(''), undefined)
  const changelog =
    'chromium (2) x; urgency=high\n\n  * Fix.\n\n -- A B <a@b.example>  Mon, 02 Nov 2026 10:00:00 +0100\n\n'
  assert.equal(
    newestDateIn(`${changelog}${changelog.replace('Nov', 'Oct')}`)?.toISOString(),
    '2026-11-02T09:00:00.000Z',
  )
  assert.equal(newestDateIn('nothing'), undefined)
})

test('finds the version of the Chromium on this machine', async () => {
  const age = await readBrowserAge()
  assert.match(age?.installed ?? '', /^\d+\.\d+/)
})
