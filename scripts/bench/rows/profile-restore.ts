// What a profile adds to a create: its bytes must reach the instance, and Chromium must start with them. The
// baseline does both separately: a cold create, and unpacking the same archive with tar.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress, zstdCompressSync } from 'node:zlib'
import { TAR_END, tarHead, tarPadding } from '@berth/codecs/tar/writer'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { hasEmptyInstances, whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { pin, type CoreList } from '../measure/cores.ts'
import { atMost } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessRow } from './row.ts'

const MB = 1024 * 1024
const FILE_BYTES = MB / 4
/** In memory, like the home directory of an instance. */
const MEMORY = '/dev/shm'

export const profileRestoreRow: ProcessRow = {
  number: 35,
  title: 'Create with a profile, against a cold create plus unpacking the same archive',
  whySkipped: whyNoSessions,
  async *measureProcesses({ cleanup, cores, servers }, measuring) {
    const { createPairs: pairs, profileMegabytes: megabytes, emptyInstances: empty } = measuring.effort
    const server = await servers.one(hasEmptyInstances ? { empty } : {})
    const tar = archiveOf(megabytes)
    const id = await server.importProfile(tar)
    const directory = mkdtempSync(join(MEMORY, 'berth-bench-'))
    cleanup.after(() => rmSync(directory, { recursive: true, force: true }))
    const packed = zstdCompressSync(tar)
    const cold = createBlock(server, {})
    yield await compare(
      {
        blocks: {
          ours: createBlock(server, { profile: { id } }),
          baseline: async (...args) => {
            const { usableMs } = (await cold(...args)) as { usableMs: number }
            const transferMs = await unpackMs(packed, directory, cores.server)
            return { usableMs: usableMs + transferMs, coldMs: usableMs, transferMs }
          },
        },
        pairs,
        // Empty instances are replaced on the same core.
        isRestless: true,
        metrics: [
          {
            row: 35,
            name: `Create with a profile of ${megabytes} MB: usable`,
            reading: 'usableMs',
            unit: 'ms',
            digits: 1,
            judged: 'ratio',
            goal: atMost(1.25, 1),
          },
          {
            row: 35,
            name: `Create with a profile of ${megabytes} MB: added time`,
            reading: 'usableMs',
            unit: 'ms',
            digits: 1,
            judged: 'difference',
          },
        ],
      },
      measuring,
    )
  },
}

function createBlock(server: SessionServer, body: { profile?: { id: string } }): Block {
  return async () => {
    const startedAt = performance.now()
    const browser = await server.create({ headless: true, ...body })
    const page = await Page.open(browser.cdp_ws_url)
    const usableMs = performance.now() - startedAt
    await page.close()
    await server.delete(browser)
    await server.settled()
    return { usableMs }
  }
}

/** Half of the bytes can be compressed, as in real profiles. */
function archiveOf(megabytes: number): Buffer {
  const pieces: Buffer[] = []
  const text = Buffer.alloc(FILE_BYTES, 'what a browser keeps, ')
  for (let number = 0; number * FILE_BYTES < megabytes * MB; number++) {
    const content = number % 2 === 0 ? text : randomBytes(FILE_BYTES)
    const path = `Default/IndexedDB/http_example_0.indexeddb.blob/${number}`
    pieces.push(tarHead({ path, kind: 'file', size: content.length, mtimeSeconds: 0 }), content)
    pieces.push(tarPadding(content.length))
  }
  return Buffer.concat([...pieces, TAR_END])
}

async function unpackMs(packed: Buffer, directory: string, cores: CoreList): Promise<number> {
  const target = mkdtempSync(join(directory, 'unpacked-'))
  const startedAt = performance.now()
  const tar = spawn('tar', ['-xf', '-', '-C', target], { stdio: ['pipe', 'ignore', 'inherit'] })
  pin([tar.pid!], cores)
  const ended = once(tar, 'close')
  await pipeline(Readable.from([packed]), createZstdDecompress(), tar.stdin)
  const [code] = (await ended) as [number]
  const elapsedMs = performance.now() - startedAt
  assert.equal(code, 0)
  rmSync(target, { recursive: true })
  return elapsedMs
}
