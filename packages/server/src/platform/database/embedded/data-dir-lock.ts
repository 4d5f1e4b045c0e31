// One server per data directory. The lock is an abstract socket, which the kernel releases with the
// process, so a stale lock cannot exist.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { pause } from '@berth/kit/pause'

const LOOK_EVERY_MS = 20

export class DataDirInUse extends Error {
  constructor(dataDir: string) {
    super(
      `Cannot use data directory "${dataDir}": another Berth server is using it; stop that one or set BERTH_DATA_DIR`,
    )
  }
}

/** Waits at most `waitMs` for another server: one that was just killed may need a moment to end. */
export async function lockDataDir(dataDir: string, { waitMs }: { waitMs: number }): Promise<AsyncDisposable> {
  const name = `\0berth-${createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32)}`
  const server = createServer((socket) => socket.destroy())
  const deadline = performance.now() + waitMs
  while (!(await listen(server, name))) {
    if (performance.now() >= deadline) throw new DataDirInUse(dataDir)
    await pause(LOOK_EVERY_MS)
  }
  server.unref()
  return {
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** False when another process has it. */
function listen(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onListening = () => {
      server.off('error', onError)
      resolve(true)
    }
    const onError = (error: NodeJS.ErrnoException) => {
      server.off('listening', onListening)
      if (error.code === 'EADDRINUSE') resolve(false)
      else reject(error)
    }
    server.once('error', onError)
    server.once('listening', onListening)
    server.listen(path)
  })
}
