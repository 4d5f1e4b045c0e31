// `npm run admin -- move-blobs`: the words around platform/blobs/move.ts.
import { parseArgs } from 'node:util'
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { ConfigError } from './config/config-error.ts'
import type { Config } from './config/config.ts'
import { blobPlace, type BlobPlace } from './config/parsers/blobs.ts'
import { SettingError } from './config/parsers/setting-error.ts'
import { deleteMoved, moveBlobs, type MoveProgress, type MoveResult } from './platform/blobs/move.ts'
import { openBlobStore } from './platform/blobs/open-store.ts'
import { listLiveServers } from './platform/blobs/registry.ts'
import type { Db } from './platform/database/schema.ts'

const SAY_EVERY_MS = 2_000
const MAX_NAMED = 20

export const MOVE_BLOBS_HELP = `Copy all files to another store and check each: --from and --to are a directory or
      s3://bucket/prefix, with the BERTH_S3_… settings. Servers may run; it can be interrupted and run again.
      --dry-run counts only. --accept-missing goes on without files that are lost. --delete-source deletes the
      files in --from, when all are in --to and all servers use it.`

export interface MovePlan {
  readonly from: BlobPlace
  readonly to: BlobPlace
  readonly isDryRun: boolean
  readonly acceptsMissing: boolean
  readonly deletesSource: boolean
}

/** Throws a ConfigError that names the argument. */
export function readMovePlan(args: readonly string[]): MovePlan {
  const values = readArguments(args)
  return {
    from: placeOf('--from', values.from),
    to: placeOf('--to', values.to),
    isDryRun: values['dry-run'],
    acceptsMissing: values['accept-missing'],
    deletesSource: values['delete-source'],
  }
}

function readArguments(args: readonly string[]) {
  try {
    const options = {
      from: { type: 'string' },
      to: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      'accept-missing': { type: 'boolean', default: false },
      'delete-source': { type: 'boolean', default: false },
    } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new ConfigError([(error as Error).message])
  }
}

/** The same plan as arguments without anything relative, for a process in another directory. */
export function moveArguments({ from, to, isDryRun, acceptsMissing, deletesSource }: MovePlan): string[] {
  const flags = {
    '--dry-run': isDryRun,
    '--accept-missing': acceptsMissing,
    '--delete-source': deletesSource,
  }
  const set = Object.entries(flags).flatMap(([flag, isSet]) => (isSet ? [flag] : []))
  return ['--from', textOf(from), '--to', textOf(to), ...set]
}

const textOf = (place: BlobPlace) =>
  place.kind === 'directory' ? place.path : `s3://${place.bucket}/${place.prefix}`

function placeOf(name: string, value: string | undefined): BlobPlace {
  try {
    const place = blobPlace(value ?? '')
    if (place) return place
    throw new ConfigError([`${name} is missing: a directory, or s3://bucket/prefix`])
  } catch (error) {
    if (error instanceof SettingError) throw new ConfigError([`${name} ${error.message}`])
    throw error
  }
}

interface Tools {
  readonly config: Config
  readonly db: Db
  readonly pool: Pool
  readonly log: Logger
}

export async function runMove({ config, db, pool, log }: Tools, plan: MovePlan): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stop.abort(new Error('Stopped. Run it again to go on from here')))
  }
  using from = await openBlobStore(config, log, plan.from)
  using to = await openBlobStore(config, log, plan.to)
  const { signal } = stop
  const toId = await to.identity()
  if (plan.deletesSource) await refuseOldServers(db, toId, to.location)
  const result = await moveBlobs({ ...plan, db, pool, from, to, signal, onProgress: progress() })
  say(`${plan.isDryRun ? 'Would move' : 'Moved'} ${filesText(result.moved)}.`)
  tellProblems(result, from.location)
  if (plan.isDryRun) return
  if (result.left > 0) {
    say(`Not in ${to.location} yet: ${filesText(result.left)}.`)
    process.exitCode = 1
    return
  }
  say(
    `All files are in ${to.location}. Stop the servers, run this once more, and start them with BERTH_BLOBS set to it.`,
  )
  if (!plan.deletesSource) return
  await refuseOldServers(db, toId, to.location)
  const removed = await deleteMoved({ db, from, to, signal })
  say(`Deleted ${filesText(removed)} in ${from.location}.`)
}

async function refuseOldServers(db: Db, toId: string, location: string): Promise<void> {
  const old = (await listLiveServers(db)).filter(({ store }) => store !== toId)
  if (old.length === 0) return
  throw new Error(
    `Cannot delete the source: server ${old.map(({ id }) => id).join(', ')} does not use ${location}; start it with BERTH_BLOBS set to that, or stop it and wait a minute`,
  )
}

function tellProblems({ missing, damaged, elsewhere }: MoveResult, from: string): void {
  tellIds(missing, `Not in ${from}, but maybe in the directory of another server; then run this there too`)
  tellIds(damaged, `Damaged in ${from}, with other bytes than were written`)
  if (elsewhere > 0) say(`In yet another store, from which to move them too: ${filesText(elsewhere)}.`)
}

function tellIds(ids: readonly string[], what: string): void {
  if (ids.length === 0) return
  const more = ids.length > MAX_NAMED ? ' …' : ''
  say(`${what}: ${filesText(ids.length)}: ${ids.slice(0, MAX_NAMED).join(', ')}${more}`)
}

function progress(): (done: MoveProgress) => void {
  let saidAt = performance.now()
  return ({ files, bytes, allFiles, allBytes }) => {
    if (performance.now() - saidAt < SAY_EVERY_MS) return
    saidAt = performance.now()
    say(`${files} of ${allFiles} files, ${gigabytes(bytes)} of ${gigabytes(allBytes)} GB`)
  }
}

const filesText = (count: number) => (count === 1 ? '1 file' : `${count} files`)

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(1)

const say = (line: string) => void process.stdout.write(`${line}\n`)
