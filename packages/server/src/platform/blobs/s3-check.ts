// At the start: whether this server may do in the bucket all that it will need to, and what the store is able to do.
import { hash, randomBytes } from 'node:crypto'
import { randomText } from '@berth/kit/ids'
import type { Logger } from 'pino'
import { explain } from '../s3/explain.ts'
import { statusOf, type S3BlobStore } from './s3-store.ts'

/** A store that is away for longer is an error at the start; whoever starts servers starts this one again. */
const PATIENCE_MS = 5_000

export async function checkS3Store(store: S3BlobStore, log: Logger): Promise<void> {
  const { client, place, prefix } = store
  const wait = { patienceMs: PATIENCE_MS, signal: AbortSignal.timeout(60_000) }
  const folder = `${prefix}checks/`
  const key = `${folder}${randomText(24)}`
  const body = randomBytes(64)
  const step = async <T>(doing: string, rights: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      const reason = explain(error, place, rights)
      throw new Error(`Cannot use the store of files ${store.location}: cannot ${doing}: ${reason}`, {
        cause: error,
      })
    }
  }
  const put = (isNew: boolean) => client.put(key, body, { ...wait, isNew, metadata: {} })

  let isConditional = true
  const sent = await step('write an object', 's3:PutObject', () =>
    put(true).catch((error: unknown) => {
      if (statusOf(error) !== 501) throw error
      isConditional = false
      return put(false)
    }),
  )
  try {
    if (isConditional) {
      isConditional = await step('write an object', 's3:PutObject', () =>
        put(true).then(
          () => false,
          (error: unknown) => {
            if (statusOf(error) === 412) return true
            throw error
          },
        ),
      )
    }
    await step('read an object', 's3:GetObject', async () => {
      const found = await client.get(key, {}, wait)
      const bytes = found && Buffer.concat(await found.body.toArray())
      if (!bytes?.equals(body)) throw new Error('it does not have what was just written')
    })
    await step('list objects', 's3:ListBucket', async () => {
      for await (const listed of client.list(key, wait)) if (listed.key === key) return
      throw new Error('it does not list what was just written')
    })
    await step('upload in parts', 's3:PutObject and s3:AbortMultipartUpload', async () => {
      await client.abortUpload(await client.beginUpload(key, {}, wait), wait)
    })
    await step('list uploads', 's3:ListBucketMultipartUploads', async () => {
      await client.listUploads(key, wait)[Symbol.asyncIterator]().next()
    })
  } finally {
    await step('delete an object', 's3:DeleteObject', () => client.remove(key, wait))
  }
  store.abilities = { isConditional, hasMd5Etags: sent.etag === hash('md5', body, 'hex') }
  if (!isConditional) {
    log.warn(
      { store: store.location },
      'the store of files ignores If-None-Match: random ids alone keep objects from being replaced',
    )
  }
}
