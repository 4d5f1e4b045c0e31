// Builds an app from its source, imports it, and returns the actions that it registers.
import { stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import {
  MAX_REASON_LENGTH,
  type AppRegistry,
  type BuildLine,
  type BuildOrder,
} from '@berth/contracts/app-link'
import { MAX_NAME_LENGTH } from '@berth/contracts/apps'
import type { Settings } from '../../instance/settings.ts'
import { baseEnvironment } from '../workers/environment.ts'
import { isJavaScript, isPython, isTypeScript, placesIn, type Places } from '../workers/places.ts'
import { startWorker } from '../workers/workers.ts'
import { fetchSource } from './git.ts'
import { bundleTypeScript, installNodePackages } from './node.ts'
import { BuildFailed } from './program.ts'
import { installPythonPackages } from './python.ts'

const DISCOVERY_MS = 60_000
const NAME = /^[^\p{Cc}\p{Cs}]{1,255}$/u

export async function* build(
  settings: Settings,
  order: BuildOrder,
  signal: AbortSignal,
): AsyncGenerator<BuildLine> {
  const places = placesIn(settings)
  const env = { ...baseEnvironment(settings), ...order.env }
  try {
    for await (const log of steps(places, { order, env, signal })) yield { log }
    const runtime = isPython(order.entrypoint) ? 'python' : 'node'
    yield { log: `Importing ${order.entrypoint}` }
    const discovery = discover(
      settings,
      { ...order, runtime, env: { ...order.env, ...order.ownEnv } },
      signal,
    )
    const registry = yield* discovery
    yield { built: { runtime, registry } }
  } catch (error) {
    if (!(error instanceof BuildFailed)) throw error
    yield { failed: error.message.slice(0, MAX_REASON_LENGTH) }
  }
}

async function* steps(
  places: Places,
  { order, env, signal }: { order: BuildOrder; env: Record<string, string>; signal: AbortSignal },
): AsyncGenerator<string> {
  if (order.git) yield* fetchSource({ source: order.git, places, env, signal })
  await checkEntrypoint(places, order.entrypoint)
  const options = { order, places, env, signal }
  if (isPython(order.entrypoint)) return yield* installPythonPackages(options)
  yield* installNodePackages(options)
  yield* bundleTypeScript(options)
}

async function checkEntrypoint({ root }: Places, entrypoint: string): Promise<void> {
  const file = resolve(root, entrypoint)
  if (!isPython(entrypoint) && !isTypeScript(entrypoint) && !isJavaScript(entrypoint)) {
    throw new BuildFailed(`Cannot run "${entrypoint}": it is neither JavaScript, TypeScript nor Python`)
  }
  const isInside = file.startsWith(root + sep)
  if (isInside && (await stat(join(root, entrypoint)).catch(() => undefined))?.isFile()) return
  throw new BuildFailed(`Cannot find the entrypoint "${entrypoint}" in the source`)
}

async function* discover(
  settings: Settings,
  kind: Parameters<typeof startWorker>[1],
  signal: AbortSignal,
): AsyncGenerator<BuildLine, AppRegistry> {
  const worker = startWorker(settings, kind, { isInvocation: false })
  const printed: string[] = []
  worker.follow((line) => printed.push(line) < 1000)
  const tooLong = AbortSignal.any([AbortSignal.timeout(DISCOVERY_MS), signal])
  const stop = () => worker.kill('Importing it took too long')
  tooLong.addEventListener('abort', stop)
  let outcome: string | Error
  try {
    outcome = await worker.ready
  } catch (error) {
    outcome = error as Error
  } finally {
    tooLong.removeEventListener('abort', stop)
    worker.kill('It is known what it has')
    await worker.ended
  }
  for (const log of printed) yield { log }
  if (outcome instanceof Error) throw new BuildFailed(`Cannot import the entrypoint: ${outcome.message}`)
  // SAFETY: the server checks it, like everything from an instance.
  const registry = JSON.parse(outcome) as AppRegistry
  if (registry.apps.length === 0) {
    throw new BuildFailed('Cannot find an app: the entrypoint makes none; call kernel.app("name") in it')
  }
  const names = registry.apps.flatMap(({ name, actions }) => [name, ...actions.map((action) => action.name)])
  const strange = names.find((name) => typeof name !== 'string' || !NAME.test(name))
  if (strange !== undefined) {
    throw new BuildFailed(
      `Cannot use the name ${JSON.stringify(strange).slice(0, 300)}: apps and actions have up to ${MAX_NAME_LENGTH} printable characters`,
    )
  }
  return registry
}
