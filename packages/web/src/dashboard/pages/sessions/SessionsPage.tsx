import { useCallback, useMemo, useState } from 'react'
import type { Browser } from '@berth/contracts/browsers'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Empty, ErrorNote, Loading } from '../../parts/Notes.tsx'
import { Page } from '../../parts/Page.tsx'
import { curl } from '../../parts/command.ts'
import { keepProject } from '../../parts/project.ts'
import { Table } from '../../parts/Table.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { columnsOf } from './columns.tsx'
import { CreateDialog } from './create/CreateDialog.tsx'
import { EndSelected } from './EndSelected.tsx'
import { FilterBar } from './FilterBar.tsx'
import { isFiltered, useFilters } from './filters.ts'

const idOf = ({ session_id: id }: Browser) => id
const noIds: ReadonlySet<string> = new Set()

export function SessionsPage() {
  const { client, power } = useApi()
  const navigate = useNavigate()
  const { create } = useSearch({ strict: false }) as { create?: boolean }
  const { filters, change } = useFilters()
  const { status, query, tags } = filters
  const list = useLongList<Browser>({
    key: ['browser', status, query, tags],
    read: async (page, signal) =>
      (
        await client.browsers.list(
          { ...page, status, ...(query !== '' && { query }), ...(Object.keys(tags).length > 0 && { tags }) },
          { signal },
        )
      ).getPaginatedItems() as unknown as Browser[],
    idOf,
  })
  const [chosen, setChosen] = useState(noIds)
  const canWrite = power.can('browsers:write')
  const setCreating = (isCreating: boolean) =>
    void navigate({
      to: '.',
      replace: !isCreating,
      search: (old: object) => ({ ...old, create: isCreating ? true : undefined }),
    })
  const onTag = useCallback(
    (name: string, value: string) => change({ tags: { ...tags, [name]: value } }),
    [change, tags],
  )
  const columns = useMemo(() => columnsOf(onTag), [onTag])
  const selected = useMemo(
    () => list.rows.filter((row) => chosen.has(row.session_id) && row.deleted_at === undefined),
    [list.rows, chosen],
  )
  return (
    <Page
      title="Sessions"
      isFull
      actions={
        <button
          type="button"
          className="primary"
          disabled={!canWrite}
          title={canWrite ? undefined : 'This key may not create sessions: it lacks browsers:write'}
          onClick={() => setCreating(true)}
        >
          <Icon name="plus" size={16} /> Create a session
        </button>
      }
    >
      <FilterBar filters={filters} onChange={change} />
      {chosen.size > 0 && (
        <EndSelected sessions={selected} count={chosen.size} onClear={() => setChosen(noIds)} />
      )}
      {list.error !== null && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && list.error === null && <Loading what="sessions" />}
      {list.rows.length > 0 && (
        <Table
          label="Sessions"
          rows={list.rows}
          columns={columns}
          idOf={idOf}
          isBusy={list.isPrevious}
          onRange={list.onRange}
          onOpen={({ session_id: id }) =>
            void navigate({ to: '/sessions/$id', params: { id }, search: keepProject })
          }
          {...(canWrite && { selection: { ids: chosen, onChange: setChosen } })}
        />
      )}
      {!list.isPending && list.rows.length === 0 && (
        <NoSessions
          isFiltered={isFiltered(filters)}
          status={status}
          onAll={() => change({ status: 'all' })}
        />
      )}
      {create === true && canWrite && <CreateDialog onClose={() => setCreating(false)} />}
    </Page>
  )
}

interface NoSessionsProps {
  readonly isFiltered: boolean
  readonly status: string
  readonly onAll: () => void
}

function NoSessions({ isFiltered: isNarrow, status, onAll }: NoSessionsProps) {
  const { projectId } = useApi()
  if (isNarrow) {
    return <Empty icon="search" title="No session fits" text="Change the text, the tags or the state." />
  }
  if (status === 'deleted') {
    return <Empty icon="sessions" title="No session has ended yet" text="Ended sessions stay here." />
  }
  return (
    <Empty
      icon="sessions"
      title="No session runs"
      text="Create one here, with the published client, or with curl:"
      command={curl({ projectId, path: '/browsers', body: { headless: true } })}
    >
      {status === 'active' && (
        <button type="button" onClick={onAll}>
          Show ended sessions
        </button>
      )}
    </Empty>
  )
}
