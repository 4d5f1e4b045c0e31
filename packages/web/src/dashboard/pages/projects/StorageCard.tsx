import { storageKinds, type ProjectStorage, type StorageKind } from '@berth/contracts/projects'
import { useAsk } from '../../api/context.ts'
import { Pending } from '../../parts/Notes.tsx'
import { Card } from '../../parts/Page.tsx'
import { bytes } from '../../parts/Time.tsx'
import { useOne } from '../../parts/use-one.ts'

const REFETCH_MS = 10_000

const kindWords: Readonly<Record<StorageKind, string>> = {
  profiles: 'Profiles',
  replays: 'Recordings',
  telemetry: 'Telemetry',
  extensions: 'Extensions',
  deployments: 'Apps',
}

export function StorageCard({ id }: { id: string }) {
  const ask = useAsk()
  const query = useOne<ProjectStorage>(
    ['project', id, 'storage'],
    (signal) => ask(`/org/projects/${encodeURIComponent(id)}/storage`, { signal }),
    { refetchMs: REFETCH_MS },
  )
  const { data: storage } = query
  if (!storage) {
    return (
      <Card title="Storage">
        <Pending query={query} what="the storage" />
      </Card>
    )
  }
  const { used_bytes: used, max_bytes: max, by_kind: byKind } = storage
  const whole = max ?? used
  return (
    <Card title="Storage">
      <div className="form">
        <p>
          <span className="strong">{bytes(used)}</span>
          {max === null ? ' in use, without a limit' : ` of ${bytes(max)} in use`}
        </p>
        {max !== null && (
          <meter min={0} max={max} high={max * 0.9} value={used} aria-label="Storage in use" />
        )}
        <ul className="storage">
          {storageKinds.map((kind) => (
            <li key={kind}>
              <span>{kindWords[kind]}</span>
              <span className="bar">
                <span
                  style={{ width: `${whole === 0 ? 0 : Math.min(100, (byKind[kind] / whole) * 100)}%` }}
                />
              </span>
              <span className="number">{bytes(byKind[kind])}</span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}
