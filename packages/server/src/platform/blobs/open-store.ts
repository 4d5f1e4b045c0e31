import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import type { BlobPlace } from '../../config/parsers/blobs.ts'
import { DirectoryBlobStore } from './directory-store.ts'
import type { BlobStore } from './store.ts'

/** The store of the settings, or another place with the same credentials. Checks that it can be used. */
export async function openBlobStore(
  config: Config,
  log: Logger,
  place: BlobPlace = defaultPlace(config),
): Promise<BlobStore> {
  if (place.kind === 'directory') {
    return DirectoryBlobStore.open(place.path).catch((error: unknown) => {
      throw new Error(
        `Cannot use the directory "${place.path}" for files: the account of the server must be able to write there; see BERTH_BLOBS`,
        { cause: error },
      )
    })
  }
  // Few servers need it, and it loads AWS's client.
  const [{ S3BlobStore }, { checkS3Store }] = await Promise.all([
    import('./s3-store.ts'),
    import('./s3-check.ts'),
  ])
  const endpoint = config.BERTH_S3_ENDPOINT?.origin
  const style = config.BERTH_S3_PATH_STYLE
  const accessKeyId = config.BERTH_S3_ACCESS_KEY_ID
  const token = config.BERTH_S3_SESSION_TOKEN
  const store = await S3BlobStore.open({
    bucket: place.bucket,
    prefix: place.prefix,
    endpoint,
    region: config.BERTH_S3_REGION || undefined,
    isPathStyle: style === 'auto' ? endpoint !== undefined : style === 'true',
    credentials:
      accessKeyId === ''
        ? undefined
        : {
            accessKeyId,
            secretAccessKey: config.BERTH_S3_SECRET_ACCESS_KEY || config.BERTH_S3_SECRET_ACCESS_KEY_FILE,
            ...(token !== '' && { sessionToken: token }),
          },
  })
  try {
    await checkS3Store(store, log)
    return store
  } catch (error) {
    store[Symbol.dispose]()
    throw error
  }
}

export function defaultPlace({ BERTH_BLOBS, BERTH_DATA_DIR }: Config): BlobPlace {
  return BERTH_BLOBS ?? { kind: 'directory', path: join(BERTH_DATA_DIR, 'blobs') }
}
