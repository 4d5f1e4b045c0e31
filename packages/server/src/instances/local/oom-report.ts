// Finds the process that the kernel killed when memory ran out. Only the kernel log names it, and not every host lets
// us read that.
import { closeSync, constants, openSync, readSync } from 'node:fs'
import type { OomKill } from '../driver/driver.ts'

const KILLED =
  /Killed process (\d+) \(([^\n]*)\) .*anon-rss:(\d+)kB, file-rss:(\d+)kB, shmem-rss:(\d+)kB, UID:(\d+)/
/** Each read returns one record of at most this size. */
const RECORD_BYTES = 8 * 1024
const MAX_RECORDS = 20_000

/** The last killed process of this uid, which belongs to one instance only. */
export function readOomKill(uid: number | undefined): OomKill | undefined {
  if (uid === undefined) return undefined
  let log: number
  try {
    log = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    return findKill(log, uid)
  } finally {
    closeSync(log)
  }
}

function findKill(log: number, uid: number): OomKill | undefined {
  const buffer = Buffer.alloc(RECORD_BYTES)
  let kill: OomKill | undefined
  for (let count = 0; count < MAX_RECORDS; count++) {
    const record = readRecord(log, buffer)
    if (record === undefined) return kill
    kill = parseOomKill(record, uid) ?? kill
  }
  return kill
}

/** Undefined after the last record. */
function readRecord(log: number, buffer: Buffer): string | undefined {
  try {
    return buffer.toString('utf8', 0, readSync(log, buffer))
  } catch (error) {
    // The record was overwritten before we read it; continue with the next.
    return (error as NodeJS.ErrnoException).code === 'EPIPE' ? '' : undefined
  }
}

export function parseOomKill(record: string, uid: number): OomKill | undefined {
  const [, pid, processName, anonymous, file, shared, ofUid] = KILLED.exec(record) ?? []
  if (processName === undefined || Number(ofUid) !== uid) return undefined
  return { processName, pid: Number(pid), rssKb: Number(anonymous) + Number(file) + Number(shared) }
}
