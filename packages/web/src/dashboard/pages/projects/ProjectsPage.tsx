import { useState } from 'react'
import type { Project } from '@berth/contracts/projects'
import { useNavigate } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { curl } from '../../parts/command.ts'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { idOf } from '../../parts/id-of.ts'
import { ListPage } from '../../parts/ListPage.tsx'
import { Empty } from '../../parts/Notes.tsx'
import { keepProject } from '../../parts/project.ts'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'

const columns: readonly Column<Project>[] = [
  {
    name: 'Name',
    width: 'minmax(0, 2fr)',
    isMain: true,
    render: ({ name, id }) => (
      <span className="name-cell">
        <span className="strong">{name}</span>
        <small>{id}</small>
      </span>
    ),
  },
  {
    name: 'State',
    width: '130px',
    isMain: true,
    render: ({ status }) =>
      status === 'active' ? <Badge tone="good">Active</Badge> : <Badge tone="quiet">Archived</Badge>,
  },
  { name: 'Changed', width: '140px', render: ({ updated_at: at }) => <Time at={at} /> },
  { name: 'Created', width: '140px', render: ({ created_at: at }) => <Time at={at} /> },
]

export function ProjectsPage() {
  const { client, power } = useApi()
  const url = useUrl()
  const navigate = useNavigate()
  const query = url.text('q')
  const list = useLongList<Project>({
    key: ['project', query],
    idOf,
    read: async (page, signal) =>
      (await client.projects.list({ ...page, query }, { signal })).getPaginatedItems(),
  })
  const canCreate = power.can('projects:write') && power.isOrganization
  const open = (id: string) => void navigate({ to: `/projects/${id}`, search: keepProject })
  return (
    <ListPage
      title="Projects"
      about="Each keeps its sessions, profiles and keys apart from the others."
      create={canCreate ? 'Create a project' : undefined}
      search="Search by name"
      list={list}
      columns={columns}
      idOf={idOf}
      onOpen={({ id }) => open(id)}
      empty={
        <Empty
          icon="projects"
          title="No projects"
          text="Make one for each team or product."
          command={curl({ path: '/org/projects', body: { name: 'my-project' } })}
        />
      }
    >
      {url.has('create') && canCreate && (
        <CreateProject onClose={() => url.set({ create: undefined })} onCreated={({ id }) => open(id)} />
      )}
    </ListPage>
  )
}

interface CreateProjectProps {
  readonly onClose: () => void
  readonly onCreated: (project: Project) => void
}

function CreateProject({ onClose, onCreated }: CreateProjectProps) {
  const { client } = useApi()
  const [name, setName] = useState('')
  const create = useAct({
    run: async (): Promise<Project> => client.projects.create({ name: name.trim() }),
    done: 'The project is created',
    changes: ['project'],
    isQuiet: true,
    onDone: onCreated,
  })
  return (
    <FormDialog
      title="Create a project"
      action="Create"
      onClose={onClose}
      onSend={() => create.mutateAsync()}
    >
      <TextField
        name="name"
        label="Name"
        hint="Unique, without / and %"
        autoFocus
        value={name}
        onChange={setName}
      />
    </FormDialog>
  )
}
