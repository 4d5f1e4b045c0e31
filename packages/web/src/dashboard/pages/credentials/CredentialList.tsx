import type { Credential } from '@berth/contracts/credentials'
import { useApi } from '../../api/context.ts'
import { curl } from '../../parts/command.ts'
import { idOf } from '../../parts/id-of.ts'
import { List } from '../../parts/List.tsx'
import { Empty } from '../../parts/Notes.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'

const columns: readonly Column<Credential>[] = [
  {
    name: 'Name',
    width: 'minmax(0, 1.5fr)',
    isMain: true,
    render: ({ name }) => <span className="strong">{name}</span>,
  },
  { name: 'Website', width: 'minmax(0, 1fr)', isMain: true, render: ({ domain }) => domain },
  {
    name: 'Has',
    width: '220px',
    render: ({ has_values: hasValues, has_totp_secret: hasTotp, sso_provider: sso }) =>
      [hasValues && 'values', hasTotp && 'one-time codes', sso != null && `sign-in with ${sso}`]
        .filter(Boolean)
        .join(', '),
  },
  { name: 'Changed', width: '140px', render: ({ updated_at: at }) => <Time at={at} /> },
]

export function CredentialList() {
  const { client } = useApi()
  const url = useUrl()
  const query = url.text('q')
  const list = useLongList<Credential>({
    key: ['credential', query],
    idOf,
    read: async (page, signal) =>
      (await client.credentials.list({ ...page, query }, { signal })).getPaginatedItems(),
  })
  return (
    <List
      label="Credentials"
      search="Search by name or website"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => url.set({ open: id })}
      empty={
        <Empty
          icon="credentials"
          title="No credentials yet"
          text="Store a name and a password once, so that logins need nobody."
          command={curl({
            path: '/credentials',
            body: {
              name: 'my-account',
              domain: 'example.com',
              values: { email: 'me@example.com', password: '…' },
            },
          })}
        />
      }
    />
  )
}
