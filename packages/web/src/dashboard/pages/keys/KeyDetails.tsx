import type { ApiKey } from '@berth/contracts/api-keys'
import { useAsk } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Facts } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { useOne } from '../../parts/use-one.ts'

export function KeyDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const ask = useAsk()
  const query = useOne<ApiKey>(['api_key', id], (signal) =>
    ask(`/org/api_keys/${encodeURIComponent(id)}?include_deleted=true`, { signal }),
  )
  const { data: key } = query
  return (
    <Dialog title={key?.name ?? 'API key'} isOpen isWide onClose={onClose}>
      {key ? (
        <Facts
          facts={[
            ['Key', <code key="key">{key.masked_key}</code>],
            ['May', key.scopes === null ? 'Everything' : key.scopes.join(', ')],
            [
              'Project',
              key.project_id === null ? 'Whole organisation' : (key.project_name ?? key.project_id),
            ],
            ['Created', <Time key="created" at={key.created_at} />],
            ['Created by', key.created_by.name ?? key.created_by.email],
            ['Made with the key', key.created_by_key_id && <Copyable text={key.created_by_key_id} />],
            ['Ends', key.expires_at === null ? 'Never' : <Time key="ends" at={key.expires_at} />],
            ['Deleted', key.deleted_at && <Time at={key.deleted_at} />],
            ['Id', <Copyable key="id" text={key.id} />],
          ]}
        />
      ) : (
        <Pending query={query} what="the key" />
      )}
    </Dialog>
  )
}
