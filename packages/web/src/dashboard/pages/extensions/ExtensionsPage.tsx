import { useState } from 'react'
import type { Extension } from '@berth/contracts/extensions'
import { useApi } from '../../api/context.ts'
import { CopyButton } from '../../parts/Copy.tsx'
import { Confirm } from '../../parts/Dialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { idOf } from '../../parts/id-of.ts'
import { ListPage } from '../../parts/ListPage.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Empty } from '../../parts/Notes.tsx'
import type { Column } from '../../parts/Table.tsx'
import { bytes, Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { FromStore } from './FromStore.tsx'
import { UploadExtension } from './UploadExtension.tsx'

const titleOf = ({ name, manifest, id }: Extension) => name ?? manifest?.name ?? id

const columns: readonly Column<Extension>[] = [
  {
    name: 'Name',
    width: 'minmax(0, 2fr)',
    isMain: true,
    render: (extension) => (
      <span className="name-cell">
        <span className="strong">{titleOf(extension)}</span>
        <small>{extension.name == null ? extension.id : (extension.manifest?.name ?? extension.id)}</small>
      </span>
    ),
  },
  { name: 'Version', width: '110px', render: ({ manifest }) => manifest?.version },
  { name: 'Size', width: '90px', render: ({ size_bytes: size }) => bytes(size) },
  {
    name: 'SHA-256',
    width: '140px',
    render: ({ checksum }) =>
      checksum == null ? null : (
        <span className="copyable">
          <code title={checksum}>{checksum.slice(0, 10)}…</code>
          <CopyButton text={checksum} label="Copy the SHA-256" />
        </span>
      ),
  },
  {
    name: 'Last used',
    width: '130px',
    render: ({ last_used_at: at }) => (at == null ? <span className="quiet">Never</span> : <Time at={at} />),
  },
  { name: 'Uploaded', width: '130px', render: ({ created_at: at }) => <Time at={at} /> },
  {
    name: 'Actions',
    width: '40px',
    isMain: true,
    hasNoTitle: true,
    render: (extension) => <Actions extension={extension} />,
  },
]

export function ExtensionsPage() {
  const { client, power } = useApi()
  const url = useUrl()
  const query = url.text('q')
  const list = useLongList<Extension>({
    key: ['extension', query],
    idOf,
    read: async (page, signal) =>
      (await client.extensions.list({ ...page, query }, { signal })).getPaginatedItems(),
  })
  const canUpload = power.can('extensions:write')
  const add = url.text('add')
  const close = () => url.set({ add: undefined })
  return (
    <ListPage
      title="Extensions"
      about="Chromium extensions that sessions can be created with."
      actions={
        canUpload && (
          <>
            <button type="button" onClick={() => url.set({ add: 'store' })}>
              <Icon name="download" size={16} /> From the Chrome Web Store
            </button>
            <button type="button" className="primary" onClick={() => url.set({ add: 'file' })}>
              <Icon name="upload" size={16} /> Upload
            </button>
          </>
        )
      }
      search="Search by name or id"
      list={list}
      columns={columns}
      idOf={idOf}
      empty={
        <Empty
          icon="extensions"
          title="No extensions yet"
          text="Upload a zip archive or a crx file, or take one from the Chrome Web Store."
          command={`curl -H "Authorization: Bearer $BERTH_API_KEY" \\\n  -F name=my-extension -F file=@extension.zip \\\n  ${location.origin}/extensions`}
        />
      }
    >
      {canUpload && add === 'file' && <UploadExtension onClose={close} />}
      {canUpload && add === 'store' && <FromStore onClose={close} />}
    </ListPage>
  )
}

function Actions({ extension }: { extension: Extension }) {
  const { client, power } = useApi()
  const [isAsking, setAsking] = useState(false)
  const remove = useAct({
    run: () => client.extensions.delete(extension.id),
    done: 'The extension is deleted',
    changes: ['extension'],
    isQuiet: true,
  })
  const download = () => {
    const link = Object.assign(document.createElement('a'), {
      href: `/extensions/${encodeURIComponent(extension.id)}`,
      download: `${extension.name ?? extension.id}.zip`,
    })
    link.click()
  }
  return (
    <>
      <Menu
        label={`Actions for ${titleOf(extension)}`}
        items={[
          { text: 'Download', icon: 'download', onSelect: download },
          ...(power.can('extensions:write')
            ? [{ text: 'Delete', icon: 'trash' as const, isDanger: true, onSelect: () => setAsking(true) }]
            : []),
        ]}
      />
      <Confirm
        title={`Delete ${titleOf(extension)}?`}
        text="Running sessions keep it. New ones can no longer choose it."
        action="Delete"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutateAsync()}
      />
    </>
  )
}
