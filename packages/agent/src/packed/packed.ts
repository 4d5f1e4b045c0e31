import type * as apps from '../apps/handlers.ts'
import type * as attachServer from '../control/processes/attach-server.ts'
import type * as computer from './computer.ts'
import type * as bidiServer from '../bidi/server.ts'
import type * as login from '../login/handlers.ts'
import type * as playwrightServer from '../playwright/server.ts'
import type * as recording from './recording.ts'
import type * as capture from '../telemetry/capture.ts'
import type * as userData from '../user-data/handlers.ts'

/** Rarely used modules, compressed and in base64, so that an idle instance pays only for these strings. */
declare const PACKED: Readonly<Record<keyof Packed, string>>

export interface Packed {
  readonly apps: typeof apps
  readonly bidi: typeof bidiServer
  readonly computer: typeof computer
  readonly login: typeof login
  readonly playwright: typeof playwrightServer
  readonly recording: typeof recording
  readonly telemetry: typeof capture
  readonly terminals: typeof attachServer
  readonly userData: typeof userData
}

/**
 * The address of a module is in each line of its stack traces, so it is short: not a data: address, which would hold
 * the whole source.
 */
const SCHEME = 'berth:'

const unpacked = new Map<keyof Packed, Promise<unknown>>()

/** Loads the module on first use. */
export function unpack<Name extends keyof Packed>(name: Name): Promise<Packed[Name]> {
  const module = unpacked.get(name) ?? load(name)
  unpacked.set(name, module)
  // SAFETY: build.ts packs that module under this name.
  return module as Promise<Packed[Name]>
}

async function load(name: keyof Packed): Promise<unknown> {
  const [{ brotliDecompressSync }, { registerHooks }] = await Promise.all([
    import('node:zlib'),
    import('node:module'),
  ])
  const address = `${SCHEME}${name}`
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === address ? { url: address, shortCircuit: true } : next(specifier, context),
    load: (url, context, next) => {
      if (url !== address) return next(url, context)
      const source = brotliDecompressSync(Buffer.from(PACKED[name], 'base64'))
      return { format: 'module', source, shortCircuit: true }
    },
  })
  try {
    return (await import(address)) as unknown
  } finally {
    hooks.deregister()
  }
}
