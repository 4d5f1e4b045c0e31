import { useCallback, useMemo, type ReactNode } from 'react'
import type { AuditLogEntry } from '@berth/contracts/audit-logs'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { Copyable } from '../../parts/Copy.tsx'
import { Count } from '../../parts/List.tsx'
import { ListBody } from '../../parts/ListBody.tsx'
import { Empty } from '../../parts/Notes.tsx'
import { Facts } from '../../parts/Page.tsx'
import { Search } from '../../parts/Search.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useUrl, type Url } from '../../parts/use-url.ts'
import { distinctIds } from './distinct-ids.ts'
import { Download } from './Download.tsx'
import { isRange, ranges, type Filters } from './range.ts'
import { useAuditLog } from './use-audit-log.ts'

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

const columns: readonly Column<AuditLogEntry>[] = [
  {
    name: 'Request',
    width: 'minmax(0, 2fr)',
    isMain: true,
    render: ({ method, path }) => (
      <code title={`${method} ${path}`}>
        <b>{method}</b> {path}
      </code>
    ),
  },
  {
    name: 'Answer',
    width: '90px',
    isMain: true,
    render: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge>,
  },
  { name: 'Who', width: 'minmax(0, 1fr)', render: ({ email, user_id: user }) => email || user },
  { name: 'From', width: '140px', render: ({ client_ip: ip }) => ip },
  { name: 'Took', width: '90px', render: ({ duration_ms: ms }) => `${Math.round(ms)} ms` },
  { name: 'When', width: '140px', render: ({ timestamp }) => <Time at={timestamp} /> },
]

export function filtersOf(url: Url): Filters {
  const range = url.text('range')
  return {
    range: isRange(range) ? range : '24h',
    from: url.text('from'),
    to: url.text('to'),
    search: url.text('q'),
    method: url.text('method'),
    hidesReads: url.has('changes'),
  }
}

export function AuditList() {
  const url = useUrl()
  const filters = filtersOf(url)
  const list = useAuditLog(filters)
  const ids = useMemo(() => distinctIds(list.rows), [list.rows])
  const idOf = useCallback((entry: AuditLogEntry) => ids.get(entry) ?? '', [ids])
  const open = list.rows.find((entry) => idOf(entry) === url.text('open'))
  return (
    <>
      <FilterBar url={url} filters={filters}>
        {list.rows.length > 0 && <Count count={list.rows.length} hasMore={list.hasNextPage} what="Entries" />}
      </FilterBar>
      <ListBody
        label="Audit log"
        list={list}
        columns={columns}
        idOf={idOf}
        rowHeight={40}
        isFiltered={filters.search !== '' || filters.method !== '' || filters.hidesReads}
        onOpen={(entry) => url.set({ open: idOf(entry) })}
        empty={<Empty icon="audit" title="Nothing was recorded" text="Choose a longer time." />}
      />
      {open && <Details entry={open} onClose={() => url.set({ open: undefined })} />}
    </>
  )
}

interface FilterBarProps {
  readonly url: Url
  readonly filters: Filters
  readonly children: ReactNode
}

function FilterBar({ url, filters, children }: FilterBarProps) {
  const set = (name: string, value: string) =>
    url.set({ [name]: value === '' ? undefined : value }, { replace: true })
  return (
    <div className="filters">
      <Search label="Search path, address, person, status" />
      <select
        aria-label="Time"
        value={filters.range}
        onChange={({ target }) => set('range', target.value === '24h' ? '' : target.value)}
      >
        {Object.entries(ranges).map(([name, { text }]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
        <option value="custom">From and to…</option>
      </select>
      {filters.range === 'custom' && (
        <>
          <input
            type="datetime-local"
            aria-label="From"
            value={filters.from}
            onChange={({ target }) => set('from', target.value)}
          />
          <input
            type="datetime-local"
            aria-label="To"
            value={filters.to}
            onChange={({ target }) => set('to', target.value)}
          />
        </>
      )}
      <select
        aria-label="Method"
        value={filters.method}
        onChange={({ target }) => set('method', target.value)}
      >
        <option value="">Every method</option>
        {METHODS.map((method) => (
          <option key={method}>{method}</option>
        ))}
      </select>
      <label className="check">
        <input
          type="checkbox"
          checked={filters.hidesReads}
          onChange={({ target }) => url.set({ changes: target.checked || undefined }, { replace: true })}
        />
        Changes only
      </label>
      <Download filters={filters} />
      {children}
    </div>
  )
}

function Details({ entry, onClose }: { entry: AuditLogEntry; onClose: () => void }) {
  return (
    <Dialog title={`${entry.method} ${entry.path}`} isOpen isWide onClose={onClose}>
      <Facts
        facts={[
          ['When', <Time key="when" at={entry.timestamp} />],
          ['Exactly', <Copyable key="exactly" text={entry.timestamp} />],
          [
            'Answer',
            <Badge key="answer" tone={toneOf(entry.status)}>
              {entry.status}
            </Badge>,
          ],
          ['Took', `${entry.duration_ms} ms`],
          ['Operation', entry.route],
          ['Needs the scope', entry.scope],
          ['Who', entry.email],
          ['User', entry.user_id],
          ['Signed in by', entry.auth_strategy],
          ['From', <Copyable key="ip" text={entry.client_ip} />],
          ['Host', entry.domain],
          ['Program', entry.user_agent],
        ]}
      />
    </Dialog>
  )
}
