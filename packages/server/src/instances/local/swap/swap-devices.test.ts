import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSwapDevices } from './swap-devices.ts'

test('reads the devices that the kernel lists, blanks in their paths included', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-swaps-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'swaps')
  writeFileSync(
    file,
    `Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
/dev/zram1                              partition\t1048572\t\t2048\t\t32767
/my\\040swap                             file\t\t4\t\t0\t\t-2
`,
  )
  assert.deepEqual(readSwapDevices(file), [
    { path: '/dev/zram1', sizeBytes: 1048572 * 1024, usedBytes: 2048 * 1024 },
    { path: '/my swap', sizeBytes: 4096, usedBytes: 0 },
  ])
  writeFileSync(file, 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n')
  assert.deepEqual(readSwapDevices(file), [])
})
