import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roomFor, StorageFull, toSize, type StorageUse } from './use.ts'

const MB = 1024 * 1024
const nothing = { profiles: 0, replays: 0, telemetry: 0, extensions: 0, deployments: 0 }
const using = (byKind: Partial<StorageUse['byKind']>, maxBytes = 100 * MB): StorageUse => ({
  projectId: 'proj_1',
  projectName: 'Acme',
  maxBytes,
  byKind: { ...nothing, ...byKind },
})

test('everything may fill the limit, except for recordings and telemetry', () => {
  const use = using({ profiles: 40 * MB, telemetry: 5 * MB })
  assert.equal(roomFor('profiles', use), 55 * MB)
  assert.equal(roomFor('deployments', use), 55 * MB)
  assert.equal(roomFor('replays', use), 50 * MB)
  assert.equal(roomFor('telemetry', use), 20 * MB)
  const full = using({ profiles: 101 * MB })
  assert.equal(roomFor('extensions', full), -MB)
  assert.equal(roomFor('telemetry', full), -MB)
  assert.equal(roomFor('profiles', using({ profiles: 1e15 }, Infinity)), Infinity)
})

test('a refusal names the project, what it stores, the limit and the remedy', () => {
  const full = using({ profiles: 90 * MB, extensions: 11.5 * MB })
  assert.equal(
    new StorageFull('profiles', full, { action: 'import the archive', isAdded: true }).message,
    'Cannot import the archive: project "Acme" may store at most 100 MB, and with this it would store 101.5 MB ' +
      '(90 MB of profiles, 11.5 MB of extensions); delete profiles, extensions or deployments, or raise the ' +
      "project's max_storage_bytes or BERTH_PROJECT_STORAGE_MB",
  )
  const share = using({ replays: 50 * MB })
  assert.match(
    new StorageFull('replays', share, { action: 'record', isAdded: false }).message,
    /^Cannot record: the replays of project "Acme" may take at most 50 MB, and it stores 50 MB already \(50 MB of replays\);/,
  )
})

test('sizes are written for people', () => {
  assert.deepEqual([0, 1023, 1024, 1536, MB, 51_200 * MB].map(toSize), [
    '0 bytes',
    '1023 bytes',
    '1 KB',
    '1.5 KB',
    '1 MB',
    '50 GB',
  ])
})
