// How much a project stores, and whether more fits.
import { storageKinds, type StorageKind } from '@berth/contracts/projects'
import { AppError } from '../../platform/errors/app-error.ts'

export interface StorageUse {
  readonly projectId: string
  readonly projectName: string
  /** Infinity without a limit. */
  readonly maxBytes: number
  readonly byKind: Readonly<Record<StorageKind, number>>
}

/** These grow without anybody waiting for them, so they leave room for the rest. */
const SHARES: Partial<Record<StorageKind, number>> = { replays: 0.5, telemetry: 0.25 }

export function usedBytes({ byKind }: StorageUse): number {
  return storageKinds.reduce((sum, kind) => sum + byKind[kind], 0)
}

/** How much more of this kind fits; negative when there is too much already. */
export function roomFor(kind: StorageKind, use: StorageUse): number {
  return Math.min(use.maxBytes - usedBytes(use), maxOf(kind, use) - use.byKind[kind])
}

export function maxOf(kind: StorageKind, { maxBytes }: StorageUse): number {
  return Math.floor(maxBytes * (SHARES[kind] ?? 1))
}

/** A refusal that the caller can read; `why` is for where it is told later. */
export class StorageFull extends AppError {
  readonly why: string

  /** With `isAdded`, the figures include what is refused. */
  constructor(kind: StorageKind, use: StorageUse, { action, isAdded }: { action: string; isAdded: boolean }) {
    const why = reasonOf(kind, use, { isAdded })
    super('storage_full', `Cannot ${action}: ${why}`)
    this.why = why
  }
}

function reasonOf(kind: StorageKind, use: StorageUse, { isAdded }: { isAdded: boolean }): string {
  const isShare = usedBytes(use) < use.maxBytes && kind in SHARES
  const what = isShare
    ? `the ${kind} of project "${use.projectName}" may take at most ${toSize(maxOf(kind, use))}`
    : `project "${use.projectName}" may store at most ${toSize(use.maxBytes)}`
  const kinds = storageKinds
    .filter((each) => use.byKind[each] > 0)
    .toSorted((one, other) => use.byKind[other] - use.byKind[one])
    .map((each) => `${toSize(use.byKind[each])} of ${each}`)
  const total = toSize(usedBytes(use))
  const now = isAdded ? `with this it would store ${total}` : `it stores ${total} already`
  const list = kinds.length > 0 ? ` (${kinds.join(', ')})` : ''
  return `${what}, and ${now}${list}; delete profiles, extensions or deployments, or raise the project's max_storage_bytes or BERTH_PROJECT_STORAGE_MB`
}

const UNITS = ['KB', 'MB', 'GB', 'TB', 'PB']

export function toSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  let value = bytes
  let unit = -1
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  return `${Number(value.toFixed(1))} ${UNITS[unit]}`
}
