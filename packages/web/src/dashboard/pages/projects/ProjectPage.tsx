import { useState } from 'react'
import type { Project, ProjectStatus } from '@berth/contracts/projects'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Copyable } from '../../parts/Copy.tsx'
import { Confirm } from '../../parts/Dialog.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { RenameDialog } from '../../parts/RenameDialog.tsx'
import { Time } from '../../parts/Time.tsx'
import { say } from '../../parts/toasts.ts'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { LimitsCard } from './LimitsCard.tsx'
import { StorageCard } from './StorageCard.tsx'

export function ProjectPage() {
  const { id = '' } = useParams({ strict: false })
  const { client } = useApi()
  const query = useOne<Project>(['project', id], (signal) => client.projects.retrieve(id, { signal }))
  const above = (
    <Link to="/projects" search={keepProject}>
      Projects
    </Link>
  )
  if (query.data) return <Loaded project={query.data} above={above} />
  return (
    <Page title="Project" above={above}>
      <Pending query={query} what="the project" />
    </Page>
  )
}

function Loaded({ project, above }: { project: Project; above: React.ReactNode }) {
  const { client, power } = useApi()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const close = () => setOpen(undefined)
  const rename = useAct({
    run: (name: string) => client.projects.update(project.id, { name }),
    changes: ['project'],
    isQuiet: true,
  })
  const setStatus = useAct({
    run: (status: ProjectStatus) => client.projects.update(project.id, { status }),
    changes: ['project'],
    onDone: (_answer, status) => {
      if (status === 'active') say('The project is active again')
      else say('The project is archived', { undo: () => setStatus.mutate('active') })
    },
  })
  const remove = useAct({
    run: () => client.projects.delete(project.id),
    done: 'The project is deleted',
    changes: ['project'],
    isQuiet: true,
    onDone: () => void navigate({ to: '/projects', search: {}, replace: true }),
  })
  const isActive = project.status === 'active'
  const canWrite = power.can('projects:write')
  return (
    <Page
      title={project.name}
      above={above}
      about={
        <>
          {isActive ? <Badge tone="good">Active</Badge> : <Badge tone="quiet">Archived</Badge>}
          <Copyable text={project.id} />
          <span>
            Created <Time at={project.created_at} />
          </span>
        </>
      }
      actions={
        canWrite && (
          <>
            {power.isOrganization && (
              <button
                type="button"
                disabled={setStatus.isPending}
                onClick={() => setStatus.mutate(isActive ? 'archived' : 'active')}
              >
                {isActive ? 'Archive' : 'Restore'}
              </button>
            )}
            <Menu
              label="More actions"
              items={[
                { text: 'Rename', icon: 'settings', onSelect: () => setOpen('rename') },
                ...(power.isOrganization
                  ? [
                      {
                        text: 'Delete',
                        icon: 'trash' as const,
                        isDanger: true,
                        onSelect: () => setOpen('delete'),
                      },
                    ]
                  : []),
              ]}
            />
          </>
        )
      }
    >
      <LimitsCard id={project.id} />
      <StorageCard id={project.id} />
      {open === 'rename' && (
        <RenameDialog
          what="project"
          name={project.name}
          hint="Unique, without / and %"
          onSend={(name) => rename.mutateAsync(name)}
          onClose={close}
        />
      )}
      <Confirm
        title={`Delete ${project.name}?`}
        text="Only an empty project can be deleted. Its keys stop working."
        action="Delete"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync()}
      />
    </Page>
  )
}
