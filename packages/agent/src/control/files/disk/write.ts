import type { IncomingMessage } from 'node:http'
import { freeBuffer } from '@berth/kit/free-buffer'
import { collectPassedPieces } from '@berth/kit/collect-passed-pieces'
import { checkRoom, placeFor, StagedFile } from './staged-file.ts'

export async function writeWhole(
  request: IncomingMessage,
  { path, mode }: { path: string; mode: number | undefined },
): Promise<void> {
  const place = await placeFor(path)
  using staged = StagedFile.create(place.near, { for: path })
  await checkRoom(place.near, Number(request.headers['content-length'] ?? 0), { for: path })
  await eachPiece(request, (piece) => staged.write(piece, { for: path }))
  await staged.takePlace(place, mode)
}

/** Like bodyOf(), but with events, which take a sixth less time for a large file. */
function eachPiece(request: IncomingMessage, use: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let isRefused = false
    request.on('data', (piece: Buffer) => {
      try {
        if (!isRefused) use(piece)
      } catch (error) {
        isRefused = true
        reject(error)
      }
      freeBuffer(piece)
    })
    request.once('end', resolve)
    request.once('error', reject)
    request.once('close', () => reject(new Error('The body was cut off')))
  })
}

/** Keeps the request alive when its reader stops; otherwise the connection would end before the refusal is sent. */
export function bodyOf(request: IncomingMessage): AsyncIterable<Buffer> {
  collectPassedPieces(request)
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
}
