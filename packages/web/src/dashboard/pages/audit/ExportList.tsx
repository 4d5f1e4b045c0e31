// Where the audit log is sent to, all the time.
import { useState } from 'react'
import type {
  AuditExportDestination,
  AuditExportTestResult,
  ExportStatus,
} from '@berth/contracts/audit-exports'
import { useAsk, usePower } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { curl } from '../../parts/command.ts'
import { Confirm } from '../../parts/Dialog.tsx'
import { idOf } from '../../parts/id-of.ts'
import { List } from '../../parts/List.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Empty } from '../../parts/Notes.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { say, sayProblem } from '../../parts/toasts.ts'
import { useAct } from '../../parts/use-act.ts'
import { useLongList } from '../../parts/use-long-list.ts'
import { ExportForm, PATH } from './ExportForm.tsx'

const REFETCH_MS = 10_000

const columns: readonly Column<AuditExportDestination>[] = [
  {
    name: 'Bucket',
    width: 'minmax(0, 1.2fr)',
    isMain: true,
    render: ({ bucket, prefix, endpoint, region }) => (
      <span className="name-cell">
        <span className="strong">
          {bucket}/{prefix}
        </span>
        <small>{endpoint ?? region}</small>
      </span>
    ),
  },
  {
    name: 'State',
    width: '110px',
    render: ({ status, consecutive_failures: failures }) => (
      <Badge tone={failures > 0 ? 'bad' : status === 'active' ? 'good' : 'quiet'}>
        {failures > 0 ? 'Fails' : status === 'active' ? 'Active' : 'Paused'}
      </Badge>
    ),
  },
  {
    name: 'Last problem',
    width: 'minmax(0, 1fr)',
    render: ({ last_error: error }) => (error === undefined ? '' : <span title={error}>{error}</span>),
  },
  {
    name: 'Last written',
    width: '140px',
    render: ({ last_success_at: at }) =>
      at === undefined ? <span className="quiet">Never</span> : <Time at={at} />,
  },
  {
    name: 'Actions',
    width: '40px',
    isMain: true,
    hasNoTitle: true,
    render: (each) => <Actions destination={each} />,
  },
]

export function ExportList() {
  const ask = useAsk()
  const list = useLongList<AuditExportDestination>({
    key: ['audit_export'],
    idOf,
    read: ({ limit, offset }, signal) => ask(`${PATH}?limit=${limit}&offset=${offset}`, { signal }),
    refetchMs: REFETCH_MS,
  })
  return (
    <List
      label="Export destinations"
      list={list}
      columns={columns}
      idOf={idOf}
      empty={
        <Empty
          icon="audit"
          title="No destinations yet"
          text="Berth can write the audit log to an S3 bucket, all the time."
          command={curl({
            path: PATH,
            body: {
              type: 's3',
              format: 'jsonl.gz',
              bucket: 'audit-logs',
              prefix: 'berth/',
              region: 'us-east-1',
              role_arn: 'arn:aws:iam::123456789012:role/audit-export',
            },
          })}
        />
      }
    />
  )
}

function Actions({ destination }: { destination: AuditExportDestination }) {
  const ask = useAsk()
  const canWrite = usePower().can('audit_logs:write')
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const close = () => setOpen(undefined)
  const path = `${PATH}/${encodeURIComponent(destination.id)}`
  const setStatus = useAct({
    run: (status: ExportStatus) => ask(path, { method: 'PATCH', body: { status } }),
    done: (_answer, status) => (status === 'active' ? 'The export is active' : 'The export is paused'),
    changes: ['audit_export'],
  })
  const test = useAct({
    run: () => ask<AuditExportTestResult>(`${path}/test`, { method: 'POST' }),
    changes: ['audit_export'],
    onDone: ({ success, error }) => {
      if (success) say('An object was written: it works')
      else sayProblem({ message: `It does not work: ${error?.message ?? 'no reason given'}` })
    },
  })
  const remove = useAct({
    run: () => ask(path, { method: 'DELETE' }),
    done: 'The destination is deleted',
    changes: ['audit_export'],
    isQuiet: true,
  })
  if (!canWrite) return null
  const isActive = destination.status === 'active'
  return (
    <>
      <Menu
        label={`Actions for ${destination.bucket}`}
        items={[
          { text: 'Test', icon: 'refresh', isDisabled: test.isPending, onSelect: () => test.mutate() },
          isActive
            ? { text: 'Pause', icon: 'pause', onSelect: () => setStatus.mutate('paused') }
            : { text: 'Make active', icon: 'play', onSelect: () => setStatus.mutate('active') },
          { text: 'Change', icon: 'settings', onSelect: () => setOpen('edit') },
          { text: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setOpen('delete') },
        ]}
      />
      {open === 'edit' && <ExportForm destination={destination} onClose={close} />}
      <Confirm
        title={`Stop the export to ${destination.bucket}?`}
        text="The destination is deleted. Objects that were written stay."
        action="Delete"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync()}
      />
    </>
  )
}
