// One server per data directory. The lock is an abstract socket, which the kernel releases with the
// process, so a stale lock cannot exist.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { createServer, type Server } from 'node:net'

export class DataDirInUse extends Error {
  constructor(dataDir: string) {
    super(
      `Cannot use data directory "${dataDir}": another Berth server is using it; stop that one or set BERTH_DATA_DIR`,
    )
  }
}

export async function lockDataDir(dataDir: string): Promise<AsyncDisposable> {
  const name = `\0berth-${createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 32)}`
  const server = createServer((socket) => socket.destroy())
  await listen(server, name).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new DataDirInUse(dataDir) : error
  })
  server.unref()
  return {
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}
