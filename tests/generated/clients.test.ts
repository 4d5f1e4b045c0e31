// Clients that two generators make from the OpenAPI document of a running server: compiled with strict types, and used
// for a whole session, a telemetry stream and the upload of a file.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startServer } from '../fixtures/server.ts'
import { CONTENT, type Given, type Seen } from './programs/session.ts'

const root = join(import.meta.dirname, '../..')
const owner = { after }
const folder = mkdtempSync(join(tmpdir(), 'berth-generated-'))
cleanUpAfter(owner, () => rmSync(folder, { recursive: true }))
const server = await startServer(owner, { hasRealInstances: true })
const document = join(folder, 'openapi.json')
writeFileSync(document, await (await server.fetch('/openapi.json')).text())

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  types: [],
}

for (const generator of ['hey-api', 'swagger-typescript-api']) {
  test(`a client by ${generator} compiles with strict types and runs a session`, async () => {
    const at = join(folder, generator)
    cpSync(join(import.meta.dirname, 'programs'), at, { recursive: true })
    succeed(process.execPath, [
      join(import.meta.dirname, 'generate.ts'),
      generator,
      document,
      join(at, 'made'),
    ])

    const project = join(at, 'tsconfig.json')
    writeFileSync(project, JSON.stringify({ compilerOptions, files: [`${generator}.ts`] }))
    succeed(join(root, 'node_modules/.bin/tsc'), ['--project', project])

    const outfile = join(at, 'program.mjs')
    await build({ entryPoints: [join(at, `${generator}.ts`)], outfile, bundle: true, format: 'esm' })
    const { run } = (await import(pathToFileURL(outfile).href)) as { run: (given: Given) => Promise<Seen> }
    const seen = await run({ url: server.url, key: server.key })

    assert.deepEqual(seen.listed, [seen.sessionId])
    assert.equal(seen.hasMore, 'false')
    assert.equal(seen.file, CONTENT)
    assert.equal(seen.printed, 'printed\n')
    assert.equal(Buffer.from(seen.picture).toString('latin1', 1, 4), 'PNG')
    assert.deepEqual(seen.lines, ['said to a generated client'])
    assert.deepEqual(seen.calls, [
      'uploadFiles',
      'readFile',
      'processExec',
      'takeScreenshot',
      'executePlaywrightCode',
    ])
    assert.ok(seen.numbers.length > 5)
    assert.deepEqual(seen.resumed, seen.numbers.slice(1))
    assert.equal(seen.ignored, 'colour')
    assert.deepEqual(seen.missing, { status: 404, code: 'not_found' })
    assert.equal(seen.ended, 204)
  })
}

function succeed(program: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: folder })
  assert.equal(status, 0, `${stdout}\n${stderr}`.slice(0, 10_000))
}
