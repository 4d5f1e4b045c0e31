// Handles requests about the whole user-data directory, see contracts/profile-archive.ts.
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline as pipe, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { PROFILE_DIRECTORY, TABS_DIRECTORY } from '@berth/contracts/profile-archive'
import type { Chromium } from '../chromium/chromium.ts'
import { packDirectory } from './pack.ts'
import { unpackInto } from './unpack.ts'
import { pathExists } from '../user/path-exists.ts'

/** Smaller pieces take up to three times as long. */
const PIECE_BYTES = 1024 * 1024

export type AnswerProfile = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export function userDataHandlers(chromium: Chromium, directory: string): AnswerProfile {
  let arrivals = 0

  async function send(response: ServerResponse, { reopens }: { reopens: boolean }): Promise<void> {
    await chromium.whileClosed(
      async () => {
        response.writeHead(200, { 'content-type': 'application/x-tar' })
        await pipeline(Readable.from(packDirectory(directory), { objectMode: false }), response)
      },
      { isDiscarded: false, reopens },
    )
  }

  /** Replaces the old directory only when the new one is complete, so an aborted request changes nothing. */
  async function take(request: IncomingMessage, { keepsTabs }: { keepsTabs: boolean }): Promise<void> {
    const arriving = `${directory}.arriving-${++arrivals}`
    rmSync(arriving, { recursive: true, force: true })
    mkdirSync(arriving, { mode: 0o700 })
    try {
      await unpackInto(arriving, unpacked(request))
      if (!keepsTabs) {
        rmSync(join(arriving, PROFILE_DIRECTORY, TABS_DIRECTORY), { recursive: true, force: true })
      }
      await chromium.whileClosed(
        () => {
          rmSync(directory, { recursive: true, force: true })
          renameSync(arriving, directory)
          chromium.keepTabs()
        },
        { isDiscarded: true, reopens: true },
      )
    } finally {
      if (pathExists(arriving)) rmSync(arriving, { recursive: true, force: true })
    }
    await chromium.whenSettled()
  }

  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://agent')
    switch (`${request.method} ${pathname}`) {
      case 'GET /profile':
        return send(response, { reopens: searchParams.get('then') === 'reopen' })
      case 'PUT /profile':
        await take(request, { keepsTabs: searchParams.get('tabs') !== 'drop' })
        return void response.writeHead(204).end()
      case 'POST /profile/keep':
        chromium.keepTabs()
        return void response.writeHead(204).end()
      default:
        return void response.writeHead(404).end()
    }
  }
}

/** The archive arrives compressed, as it is stored: half as many bytes, and unpacked in the home, which has a limit. */
function unpacked(request: IncomingMessage): AsyncIterable<Buffer> {
  const tar = createZstdDecompress({ chunkSize: PIECE_BYTES })
  pipe(request, tar, () => {})
  return tar
}
