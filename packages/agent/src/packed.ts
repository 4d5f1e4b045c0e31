import type * as apps from './apps/handlers.ts'
import type * as attachServer from './control/processes/attach-server.ts'
import type * as computer from './control/computer/handlers.ts'
import type * as bidiServer from './bidi/server.ts'
import type * as login from './login/handlers.ts'
import type * as recording from './recording/handlers.ts'
import type * as capture from './telemetry/capture.ts'
import type * as userData from './user-data/handlers.ts'

/** What is seldom used travels compressed, in base 64, and costs a sleeping instance nothing but that. */
declare const PACKED: Readonly<Record<keyof Packed, string>>

export interface Packed {
  readonly apps: typeof apps
  readonly bidi: typeof bidiServer
  readonly computer: typeof computer
  readonly login: typeof login
  readonly recording: typeof recording
  readonly telemetry: typeof capture
  readonly terminals: typeof attachServer
  readonly userData: typeof userData
}

const unpacked = new Map<keyof Packed, Promise<unknown>>()

/** Loads it with the first that asks. */
export function unpack<Name extends keyof Packed>(name: Name): Promise<Packed[Name]> {
  const module = unpacked.get(name) ?? load(PACKED[name])
  unpacked.set(name, module)
  // SAFETY: it is that module, see build.ts.
  return module as Promise<Packed[Name]>
}

async function load(packed: string): Promise<unknown> {
  const { brotliDecompressSync } = await import('node:zlib')
  const source = brotliDecompressSync(Buffer.from(packed, 'base64'))
  return import(`data:text/javascript;base64,${source.toString('base64')}`) as Promise<unknown>
}
