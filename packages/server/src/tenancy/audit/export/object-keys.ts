// Where objects go in the bucket. A chunk of a window always has the same key and content, so that one that is sent again
// after a crash replaces itself.
import type { DestinationConfig, ExportWindow } from './types.ts'

/** A deployment is one organisation. */
const ORGANIZATION_ID = 'org'

type Place = Pick<DestinationConfig, 'id' | 'prefix'>

/** `prefix/destination_id=…/org_id=…/date=…/hour=…/<start of the window>-<chunk>.jsonl.gz` */
export function objectKey(place: Place, { start, chunk }: Pick<ExportWindow, 'start' | 'chunk'>): string {
  const [date = '', time = ''] = start.replace(/(\+00|Z)$/, '').split(/[ T]/)
  const [hour] = time.split(':')
  const [seconds = '', fraction = ''] = time.replaceAll(':', '').split('.')
  const window = `${date.replaceAll('-', '')}T${seconds}.${fraction.padEnd(6, '0')}Z`
  return below(
    place.prefix,
    `destination_id=${place.id}/org_id=${ORGANIZATION_ID}/date=${date}/hour=${hour}/${window}-${String(chunk).padStart(4, '0')}.jsonl.gz`,
  )
}

export function probeKey({ prefix }: Pick<Place, 'prefix'>, random: string): string {
  return below(prefix, `.kernel-audit-log-export-test-${random}.jsonl.gz`)
}

function below(prefix: string, rest: string): string {
  const start = prefix.replace(/^\/+/, '').replace(/\/+$/, '')
  return start === '' ? rest : `${start}/${rest}`
}
