// The starts that row 33 compares.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverEnv } from '../../../tests/fixtures/server.ts'
import { bareEnv, bareServerFile } from './bare.ts'
import type { Startable } from './start.ts'

const root = join(import.meta.dirname, '../../..')
const main = join(root, 'packages/server/dist/main.mjs')
const runner = join(root, 'scripts/run.mjs')

/** Runs our main file without a compile cache. */
export function oursDirectly(dataDir: string): Startable {
  return { args: [main], env: (port) => ({ ...oursEnv(dataDir, port), NODE_DISABLE_COMPILE_CACHE: '1' }) }
}

/** With a compile cache, like an operator's server, and with its own Node and settings. */
export function oursWithSessions(options: {
  node: string
  dataDir: string
  env: Record<string, string>
}): Startable {
  const { node, dataDir, env } = options
  return { node, args: [main], env: (port) => ({ ...oursEnv(dataDir, port), ...env }) }
}

/** What `npm start` runs, after npm itself. */
export function oursAsNpmStart(dataDir: string): Startable {
  return { args: [runner, 'start'], env: (port) => oursEnv(dataDir, port) }
}

/** With npm itself. */
export function npmStart(dataDir: string): Startable {
  return { node: 'npm', args: ['--prefix', root, 'start'], env: (port) => oursEnv(dataDir, port) }
}

export function bareDirectly(): Startable {
  return { args: [bareServerFile], env: (port) => bareEnv({ BARE_PORT: String(port) }) }
}

/** With a compile cache if `npm start` uses one, so that both sides have the same advantage. */
export function bareAsNpmStart(cacheDir: string): Startable {
  const isCached = [runner, main].some((file) => readFileSync(file, 'utf8').includes('ompileCache'))
  return {
    args: [bareServerFile],
    env: (port) => bareEnv({ BARE_PORT: String(port), ...(isCached && { NODE_COMPILE_CACHE: cacheDir }) }),
  }
}

function oursEnv(dataDir: string, port: number): NodeJS.ProcessEnv {
  return serverEnv({ NODE_ENV: 'production', BERTH_DATA_DIR: dataDir, BERTH_PORT: String(port) })
}
