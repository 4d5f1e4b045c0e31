import { useCallback, useMemo } from 'react'
import type { Browser } from '@berth/contracts/browsers'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Count } from '../../parts/List.tsx'
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
import { useSelection } from './use-selection.ts'

const idOf = ({ session_id: id }: Browser) => id
/** Reads a page of the sessions that match the filters. */
export type ReadSessions = (
  page: { limit: number; offset: number },
  signal: AbortSignal,
) => Promise<readonly Browser[]>

export function SessionsPage() {
  const { client, power, projectId } = useApi()
  const navigate = useNavigate()
  const { create } = useSearch({ strict: false }) as { create?: boolean }
  const { filters, change } = useFilters()
  const { status, query, tags } = filters
  const read: ReadSessions = async (page, signal) =>
    (
      await client.browsers.list(
        { ...page, status, ...(query !== '' && { query }), ...(Object.keys(tags).length > 0 && { tags }) },
        { signal },
      )
    ).getPaginatedItems() as unknown as Browser[]
  const list = useLongList<Browser>({ key: ['browser', status, query, tags], read, idOf })
  const selection = useSelection(JSON.stringify([projectId, filters]), list.rows, read)
  const { ids: chosen } = selection
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
      <FilterBar filters={filters} onChange={change}>
        {list.rows.length > 0 && <Count count={list.rows.length} hasMore={list.hasMore} what="Sessions" />}
      </FilterBar>
      {chosen.size > 0 && (
        <EndSelected selection={selection} hasMore={list.hasMore && chosen.size <= list.rows.length} />
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
          {...(canWrite && { selection: { ids: chosen, onChange: selection.choose, hasMore: list.hasMore } })}
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
