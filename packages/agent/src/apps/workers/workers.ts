// Idle processes with the app already imported, so that an invocation starts in milliseconds. Each serves one.
import { instancePaths } from '@berth/contracts/link'
import type { AppSetup } from '@berth/contracts/app-link'
import type { Settings } from '../../instance/settings.ts'
import { appEnvironment } from './environment.ts'
import { MemoryWatch } from './memory-watch.ts'
import { mainOf, placesIn, type Places } from './places.ts'
import { OUT_OF_MEMORY, Worker } from './worker.ts'

const memory = new MemoryWatch()

/** Delay after a failed import, which would probably fail again. */
const AGAIN_MS = 5_000

export type WorkerKind = Pick<AppSetup, 'runtime' | 'entrypoint' | 'env' | 'memoryMb'>

export function startWorker(
  settings: Settings,
  kind: WorkerKind,
  { isInvocation }: { isInvocation: boolean },
): Worker {
  const places = placesIn(settings)
  const { runtime, entrypoint, env, memoryMb } = kind
  const worker = new Worker({
    command:
      runtime === 'node' ? nodeCommand(places, entrypoint, memoryMb) : pythonCommand(places, entrypoint),
    cwd: places.root,
    env: appEnvironment(settings, places, env, { isInvocation }),
    memoryMb,
    isInvocation,
  })
  const watched = { pid: worker.pid, memoryMb, onTooMuch: () => worker.kill(OUT_OF_MEMORY) }
  memory.add(watched)
  void worker.ended.then(() => memory.remove(watched))
  return worker
}

function nodeCommand(places: Places, entrypoint: string, memoryMb: number): string[] {
  const flags = [
    `--max-old-space-size=${memoryMb}`,
    '--enable-source-maps',
    '--disable-warning=ExperimentalWarning',
  ]
  return [instancePaths.node, ...flags, places.nodeRunner, mainOf(places, entrypoint)]
}

function pythonCommand(places: Places, entrypoint: string): string[] {
  return ['/usr/bin/python3', places.pythonRunner, mainOf(places, entrypoint), places.root]
}

export class Workers {
  readonly #settings: Settings
  readonly #setup: AppSetup
  #spares: Worker[] = []
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(settings: Settings, setup: AppSetup) {
    this.#settings = settings
    this.#setup = setup
    this.#fill()
  }

  take(): Worker {
    const worker =
      this.#spares.find((spare) => !spare.isOver) ??
      startWorker(this.#settings, this.#setup, { isInvocation: true })
    this.#spares = this.#spares.filter((spare) => spare !== worker && !spare.isOver)
    // Later, so that the taken process starts its invocation first.
    setImmediate(() => this.#fill())
    return worker
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const spare of this.#spares) spare.kill('The app is set up anew')
  }

  #fill(): void {
    this.#spares = this.#spares.filter((spare) => !spare.isOver)
    while (!this.#isClosed && this.#spares.length < this.#setup.spares) {
      const spare = startWorker(this.#settings, this.#setup, { isInvocation: true })
      this.#spares.push(spare)
      void spare.ready.catch(() => {
        if (!this.#spares.includes(spare)) return
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined
          this.#fill()
        }, AGAIN_MS)
      })
      if (this.#timer !== undefined) break
    }
  }
}
