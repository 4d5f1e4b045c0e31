// Stores archives in the blob store, compressed and each sealed with its own key.
import { randomBytes } from 'node:crypto'
import { pipeline, Readable, Transform } from 'node:stream'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { newId } from '@berth/kit/ids'
import type { Blobs } from '../../platform/blobs/blobs.ts'
import { CONTENT_KEY_BYTES, ContentSealer, openContent } from '../../platform/blobs/sealed-content.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { cleanArchive } from './archive.ts'
import type { StoredArchive, VersionRecord } from './types.ts'

/** Fast rather than small, because the next session may be waiting for it. */
const LEVEL = 1

/** Smaller chunks take up to three times as long. */
const UNPACKED_BYTES = 1024 * 1024

const keyContext = (id: string) => `profile_versions/sealed_key/${id}`
const archiveContext = (id: string) => `profile_versions/archive/${id}`

export interface ArchiveStoreOptions {
  readonly box: SealedBox
  readonly blobs: Blobs
  /** Uncompressed size of one archive. */
  readonly maxBytes: number
}

export class ArchiveStore {
  readonly #options: ArchiveStoreOptions

  constructor(options: ArchiveStoreOptions) {
    this.#options = options
  }

  get blobs(): Blobs {
    return this.#options.blobs
  }

  /** Checks an untrusted tar while it arrives, and stores all of it or nothing. */
  async store(source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredArchive> {
    const { box, blobs, maxBytes } = this.#options
    const versionId = newId()
    const key = randomBytes(CONTENT_KEY_BYTES)
    const [size, packed] = [new Meter(), new Meter()]
    const sealer = new ContentSealer({ key, context: archiveContext(versionId) })
    const content = Readable.from(cleanArchive(source, { maxBytes }), { objectMode: false })
    const compressor = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } })
    // An error in any stream ends all of them, and the reader of the last one gets it.
    pipeline(content, size, compressor, packed, sealer, () => {})
    // Incompressible data grows a little, and so does sealed data.
    const blob = await blobs.put(sealer, { maxBytes: maxBytes + (maxBytes >> 6) + 65_536, signal })
    return {
      versionId,
      sealedKey: box.seal(key.toString('base64'), keyContext(versionId)),
      blob,
      sizeBytes: size.bytes,
      packedBytes: packed.bytes,
    }
  }

  /** Removes an archive that has no row. */
  async discard(db: Db, { blob }: StoredArchive): Promise<void> {
    await this.#options.blobs.remove(db, blob.id)
  }

  /** Reads the archive as tar.zst. */
  openPacked({ id, sealed_key, blob_id, packed_bytes }: VersionRecord): Readable {
    const { box, blobs } = this.#options
    const key = Buffer.from(box.open(sealed_key, keyContext(id)), 'base64')
    const sizeBytes = Number(packed_bytes)
    const lock = { key, context: archiveContext(id) }
    return openContent((range) => blobs.read(blob_id, range), lock, {
      sizeBytes,
      start: 0,
      end: sizeBytes - 1,
    })
  }

  /** Reads the archive as tar. */
  open(version: VersionRecord): Readable {
    const unpacked = createZstdDecompress({ chunkSize: UNPACKED_BYTES })
    pipeline(this.openPacked(version), unpacked, () => {})
    return unpacked
  }
}

class Meter extends Transform {
  bytes = 0

  override _transform(
    chunk: Buffer,
    _encoding: string,
    done: (error: Error | null, chunk: Buffer) => void,
  ): void {
    this.bytes += chunk.length
    done(null, chunk)
  }
}
