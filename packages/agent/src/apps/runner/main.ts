// The process of one invocation of a Node app. It imports the app, reports its actions, and waits for the one invocation
// it serves. It asks the app's own copy of the client for the actions, and finds it among the modules that the app loads.
import { createRequire, registerHooks } from 'node:module'
import { Socket } from 'node:net'
import { basename, dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FrameSplitter, toFrame } from '@berth/codecs/frames/frames'
import { CHANNEL, FRAME, MAX_FRAME_BYTES, type Invocation } from '../workers/conversation.ts'

type Handler = (context: object, payload: unknown) => unknown

/** The shape of the registry in every version of the published client so far. */
interface Registry {
  export(): unknown
  getAppByName(name: string): { getAction(name: string): { handler: Handler } | undefined } | undefined
}

const FRAMEWORK = /\/core\/app-framework\.[cm]?js$/
const MAX_FAILURE_LENGTH = 16_000

const entry = process.argv[2]!
const channel = new Socket({ fd: CHANNEL, readable: true, writable: true })
channel.on('error', () => process.exit(1))
// The agent is gone, so nobody waits for the result.
channel.on('end', () => process.exit(1))

// Makes printing synchronous: nothing is lost at the end, and a flood waits for its reader instead of filling the memory.
// Files are always written like this.
for (const stream of [process.stdout, process.stderr]) {
  const { _handle: handle } = stream as unknown as {
    _handle?: { setBlocking?: (isBlocking: boolean) => void }
  }
  handle?.setBlocking?.(true)
}

const loaded = new Map<string, boolean>()
registerHooks({
  load: (url, context, next) => {
    const result = next(url, context)
    if (FRAMEWORK.test(url)) loaded.set(url, (result.format ?? context.format) === 'commonjs')
    return result
  },
})

process.on('uncaughtException', (error) => fail(error))
process.on('unhandledRejection', (error) => fail(error))

const invoked = Promise.withResolvers<Invocation>()
const given = Promise.withResolvers<string>()
const frames = new FrameSplitter({ maxBytes: MAX_FRAME_BYTES })
channel.on('data', (chunk: Buffer) => {
  for (const { kind, payload } of frames.split(chunk)) {
    if (kind === FRAME.invoke) invoked.resolve(JSON.parse(payload.toString()) as Invocation)
    else if (kind === FRAME.payload) given.resolve(payload.toString())
  }
})

// Bundled TypeScript is always an ES module. Code written for CommonJS may expect these globals, unless it defines them.
if (basename(entry).startsWith('.berth-')) {
  const globals = { require: createRequire(entry), __filename: entry, __dirname: dirname(entry) }
  Object.assign(globalThis, globals)
}

try {
  await import(pathToFileURL(entry).href)
  const registries = await loadedRegistries()
  if (registries.length === 0) {
    throw new Error('It imports no copy of the client (@onkernel/sdk), so it has no app')
  }
  const apps = registries.flatMap((registry) => (registry.export() as { apps: unknown[] }).apps)
  say(FRAME.ready, JSON.stringify({ apps }))
  const invocation = await invoked.promise
  const handler = registries
    .map((registry) => registry.getAppByName(invocation.app)?.getAction(invocation.action))
    .find((action) => action !== undefined)?.handler
  if (!handler) throw new Error(`The app "${invocation.app}" has no action "${invocation.action}"`)
  const payload: unknown = invocation.hasPayload ? JSON.parse(await given.promise) : undefined
  const result = await handler({ invocation_id: invocation.id }, payload)
  const json = JSON.stringify(result) as string | undefined
  say(FRAME.result, json ?? 'null', () => leave(0))
} catch (error) {
  fail(error)
}

async function loadedRegistries(): Promise<Registry[]> {
  const require = createRequire(entry)
  const found: Registry[] = []
  for (const [url, isCommonJs] of loaded) {
    const module = (isCommonJs ? require(fileURLToPath(url)) : await import(url)) as {
      appRegistry?: Registry
    }
    if (module.appRegistry) found.push(module.appRegistry)
  }
  return found
}

function say(kind: number, text: string, done?: () => void): void {
  const bytes = Buffer.from(text)
  if (bytes.length > MAX_FRAME_BYTES) {
    return fail(new Error(`The result has ${bytes.length} bytes, and at most ${MAX_FRAME_BYTES} are taken`))
  }
  channel.write(toFrame(kind, bytes), () => done?.())
}

function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`${text}\n`)
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  channel.write(toFrame(FRAME.failure, Buffer.from(message.slice(0, MAX_FAILURE_LENGTH))), () => leave(1))
}

/** Resolves when all output is written. */
function leave(code: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}
