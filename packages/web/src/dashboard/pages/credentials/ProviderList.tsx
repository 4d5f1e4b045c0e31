import type { CredentialProvider, ProviderType } from '@berth/contracts/credential-providers'
import { useApi } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { curl } from '../../parts/command.ts'
import { idOf } from '../../parts/id-of.ts'
import { List } from '../../parts/List.tsx'
import { Empty } from '../../parts/Notes.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'

export const typeWords: Readonly<Record<ProviderType, string>> = {
  onepassword: '1Password',
  hashicorp_vault: 'HashiCorp Vault',
}

const columns: readonly Column<CredentialProvider>[] = [
  {
    name: 'Name',
    width: 'minmax(0, 1.5fr)',
    isMain: true,
    render: ({ name }) => <span className="strong">{name}</span>,
  },
  { name: 'Kind', width: '150px', render: ({ provider_type: type }) => typeWords[type] },
  {
    name: 'State',
    width: '110px',
    isMain: true,
    render: ({ enabled }) => <Badge tone={enabled ? 'good' : 'quiet'}>{enabled ? 'In use' : 'Off'}</Badge>,
  },
  { name: 'Asked', width: '90px', render: ({ priority }) => `No. ${priority}` },
  { name: 'Changed', width: '140px', render: ({ updated_at: at }) => <Time at={at} /> },
]

export function ProviderList() {
  const { client } = useApi()
  const url = useUrl()
  const list = useLongList<CredentialProvider>({
    key: ['credential_provider'],
    idOf,
    read: async (page, signal) =>
      // SAFETY: Berth answers with more fields and kinds than the client names.
      (await client.credentialProviders.list(page, { signal })).getPaginatedItems() as CredentialProvider[],
  })
  return (
    <List
      label="Credential providers"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => url.set({ open: id })}
      empty={
        <Empty
          icon="credentials"
          title="No providers yet"
          text="Let logins read values from 1Password or HashiCorp Vault. Berth never stores them."
          command={curl({
            path: '/org/credential_providers',
            body: {
              name: 'team-vault',
              provider_type: 'onepassword',
              token: 'ops_…',
            },
          })}
        />
      }
    />
  )
}
