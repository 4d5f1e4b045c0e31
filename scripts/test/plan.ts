// Decides which test files run together, and in which order.
import { groups, isUnit } from '../../tests/tiers.ts'

/** Files that run one after another, because they share a server or a process. Or a single file. */
export interface Work {
  readonly files: readonly string[]
  readonly shares: 'server' | 'process' | 'nothing'
}

/** The environment variable with the files of a batch. */
export const BATCH = 'BERTH_TEST_BATCH'

/** How many unit files share a process. With more, the last batch would run on one core while the others are idle. */
const BATCH_SIZE = 24

/**
 * Long work starts first, so that the run does not end waiting for it. A file without a known duration may be long.
 */
export function plan(files: readonly string[], durations: Readonly<Record<string, number>>): Work[] {
  const weight = (file: string) => durations[file] ?? (isUnit(file) ? 1_000 : 15_000)
  const weightOf = (work: Work) => work.files.reduce((sum, file) => sum + weight(file), 0)
  const others = Object.groupBy(
    files.filter((file) => !isUnit(file)),
    groupOf,
  )
  const work: Work[] = [
    ...batches(files.filter(isUnit)),
    ...Object.values(others).map((members): Work => {
      const together = members ?? []
      return { files: together, shares: together.length > 1 ? 'server' : 'nothing' }
    }),
  ]
  return work.toSorted((a, b) => weightOf(b) - weightOf(a))
}

/** Files of one package stay together, because they import the same code. */
function batches(files: readonly string[]): Work[] {
  const all: Work[] = []
  for (const members of Object.values(Object.groupBy(files, packageOf))) {
    const count = Math.ceil((members?.length ?? 0) / BATCH_SIZE)
    const size = Math.ceil((members?.length ?? 0) / count)
    for (let start = 0; start < (members?.length ?? 0); start += size) {
      const batch = members!.slice(start, start + size)
      all.push({ files: batch, shares: batch.length > 1 ? 'process' : 'nothing' })
    }
  }
  return all
}

const packageOf = (file: string) => file.split('/').slice(0, 2).join('/')

/** The group whose files share a server; a file without one is its own group. */
function groupOf(file: string): string {
  return Object.entries(groups).find(([, members]) => members.includes(file))?.[0] ?? file
}
