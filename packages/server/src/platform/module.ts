// The base of every room: the database, secrets, blobs, change events between servers, metrics, the log.
import { join } from 'node:path'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { EventBus } from '@berth/kit/event-bus'
import type { Config } from '../config/config.ts'
import { Blobs } from './blobs/blobs.ts'
import { BlobCache } from './blobs/cache.ts'
import { openBlobStore } from './blobs/open-store.ts'
import { registerStore } from './blobs/registry.ts'
import { emitChange, type ChangeBus, type ChangeEvents } from './database/change-events.ts'
import { openDatabase } from './database/database.ts'
import { KeyLocks } from './database/key-locks.ts'
import { ChangeListener } from './database/listener.ts'
import type { Db } from './database/schema.ts'
import { startStorage } from './database/storage.ts'
import type { ServerLog } from './log/logging.ts'
import { Metrics } from './metrics/metrics.ts'
import { Keyring } from './secrets/keyring.ts'
import { SealedBox } from './secrets/sealed-box.ts'
import { readServerId } from './files/server-id.ts'

export interface Platform {
  readonly config: Config
  readonly db: Db
  readonly pool: Pool
  readonly locks: KeyLocks
  readonly ring: Keyring
  readonly box: SealedBox
  readonly blobs: Blobs
  /** Changes made by this or any other server. Subscribe in the constructor. */
  readonly changes: ChangeBus
  /** Receives the announcements of other servers, once started. */
  readonly listener: ChangeListener
  readonly metrics: Metrics
  readonly serverId: string
  readonly log: Logger
}

/** `cleanup` closes everything that this opens. */
export async function openPlatform(
  config: Config,
  { log, droppedLines }: ServerLog,
  cleanup: AsyncDisposableStack,
): Promise<Platform> {
  const storage = cleanup.use(await startStorage(config, log))
  const database = openDatabase(storage.connection, { size: config.BERTH_DATABASE_POOL, log })
  cleanup.defer(() => database.close())
  const { db, pool } = database
  const locks = new KeyLocks({ connection: storage.connection, log })
  cleanup.defer(() => locks.close())
  const ring = await Keyring.open({ dataDir: config.BERTH_DATA_DIR, fromSetting: config.BERTH_MASTER_KEY })
  const changes = new EventBus<ChangeEvents>({
    onError: (error, name) => log.error({ err: error, change: name }, 'cannot handle a change'),
  })
  changes.on('masterKeysChanged', () => ring.reload())
  const metrics = new Metrics()
  metrics.counter({
    name: 'berth_log_lines_dropped_total',
    help: 'Log lines dropped because their reader was blocked',
    read: droppedLines,
  })
  metrics.gaugeBy('state', {
    name: 'berth_database_connections',
    help: 'Connections to the database, by what they do',
    read: () => ({
      idle: pool.idleCount,
      busy: pool.totalCount - pool.idleCount,
      awaited: pool.waitingCount,
    }),
  })
  const serverId = await readServerId(config.BERTH_DATA_DIR)
  const blobs = await openBlobs({ config, pool, serverId, log }, cleanup)
  metrics.counter({
    name: 'berth_blob_store_failures_total',
    help: 'Requests to the store of files in S3 that failed after all attempts',
    read: () => blobs.failures,
  })
  return {
    config,
    db,
    pool,
    locks,
    ring,
    box: new SealedBox(ring),
    blobs,
    changes,
    listener: new ChangeListener({
      connection: storage.connection,
      log,
      onChange: (change) => emitChange(changes, change),
    }),
    metrics,
    serverId,
    log,
  }
}

async function openBlobs(
  { config, pool, serverId, log }: Pick<Platform, 'config' | 'pool' | 'serverId' | 'log'>,
  cleanup: AsyncDisposableStack,
): Promise<Blobs> {
  const store = cleanup.use(await openBlobStore(config, log))
  const storeId = await store.identity()
  await registerStore(pool, serverId, { id: storeId, location: store.location, isRemote: store.isRemote })
  const maxBytes = config.BERTH_BLOB_CACHE_MB * 1024 * 1024
  if (!store.isRemote || maxBytes === 0) return new Blobs({ store, storeId, log })
  const cache = await BlobCache.open(join(config.BERTH_DATA_DIR, 'blob-copies'), { maxBytes, log })
  cleanup.defer(() => cache.close())
  return new Blobs({ store, storeId, cache, log })
}
