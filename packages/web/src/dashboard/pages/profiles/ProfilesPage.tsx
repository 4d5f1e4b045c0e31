import { useState } from 'react'
import type { Profile } from '@berth/contracts/profiles'
import { useNavigate } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { curl } from '../../parts/command.ts'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'
import { idOf } from '../../parts/id-of.ts'
import { ListPage } from '../../parts/ListPage.tsx'
import { Empty } from '../../parts/Notes.tsx'
import { keepProject } from '../../parts/project.ts'
import type { Column } from '../../parts/Table.tsx'
import { bytes, Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { ProfileMenu } from './ProfileMenu.tsx'
import { titleOf } from './profile.ts'

const columns: readonly Column<Profile>[] = [
  {
    name: 'Name',
    width: 'minmax(0, 2fr)',
    isMain: true,
    render: (profile) => (
      <span className="name-cell">
        <span className="strong">{titleOf(profile)}</span>
        {profile.name != null && <small>{profile.id}</small>}
      </span>
    ),
  },
  {
    name: 'Version',
    width: '110px',
    render: ({ version, is_saving: isSaving }) =>
      isSaving ? <span className="warn">Saving…</span> : (version ?? <span className="quiet">Empty</span>),
  },
  { name: 'Size', width: '90px', render: ({ size_bytes: size }) => (size === undefined ? '' : bytes(size)) },
  {
    name: 'Last used',
    width: '140px',
    render: ({ last_used_at: at }) =>
      at === undefined ? <span className="quiet">Never</span> : <Time at={at} />,
  },
  {
    name: 'Changed',
    width: '140px',
    render: (profile) => <Time at={profile.updated_at ?? profile.created_at} />,
  },
  {
    name: 'Actions',
    width: '40px',
    isMain: true,
    hasNoTitle: true,
    render: (profile) => <ProfileMenu profile={profile} />,
  },
]

export function ProfilesPage() {
  const { client, power } = useApi()
  const navigate = useNavigate()
  const url = useUrl()
  const query = url.text('q')
  const list = useLongList<Profile>({
    key: ['profile', query],
    idOf,
    read: async (page, signal) =>
      (await client.profiles.list({ ...page, query }, { signal })).getPaginatedItems(),
  })
  const canCreate = power.can('profiles:write')
  return (
    <ListPage
      title="Profiles"
      about="Cookies, logins and settings that sessions start with and save into."
      create={canCreate ? 'Create a profile' : undefined}
      search="Search by name or id"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => void navigate({ to: `/profiles/${id}`, search: keepProject })}
      empty={
        <Empty
          icon="profiles"
          title="No profiles yet"
          text="A profile keeps what a browser knows, so that the next session is already logged in."
          command={curl({ path: '/profiles', body: { name: 'my-profile' } })}
        />
      }
    >
      {url.has('create') && canCreate && <CreateProfile onClose={() => url.set({ create: undefined })} />}
    </ListPage>
  )
}

function CreateProfile({ onClose }: { onClose: () => void }) {
  const { client } = useApi()
  const [name, setName] = useState('')
  const create = useAct({
    run: () => client.profiles.create(filled(name) === undefined ? {} : { name: name.trim() }),
    done: 'The profile is created',
    changes: ['profile'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Create a profile"
      text="It is empty until a session saves into it, or you import an archive."
      action="Create"
      onClose={onClose}
      onSend={async () => {
        await create.mutateAsync()
        onClose()
      }}
    >
      <TextField
        name="name"
        label="Name"
        hint="Unique in the project"
        isOptional
        value={name}
        onChange={setName}
        autoFocus
      />
    </FormDialog>
  )
}
