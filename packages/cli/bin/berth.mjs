#!/usr/bin/env node
// Plain JavaScript, so that an old Node can say what it needs.
import { existsSync } from 'node:fs'
import * as module from 'node:module'

const [major] = process.versions.node.split('.').map(Number)
const program = new URL('../dist/main.mjs', import.meta.url)

if (major < 22) {
  fail(`Cannot run berth with Node ${process.versions.node}: install Node 22 or newer`)
} else if (!existsSync(program)) {
  fail('Cannot run berth: it is not built yet. Run "npm run setup" in the repository')
} else {
  // Node keeps the compiled code, so a second start takes half the time.
  module.enableCompileCache?.()
  await import(program.href)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
