// The entries of one folder, and those of the folders in it that are open.
import { useRef, useState, type DragEvent, type KeyboardEvent, type ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../../api/context.ts'
import { noPlaceholder } from '../../../api/queries.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { Menu, type MenuItem } from '../../../parts/Menu.tsx'
import { Pending } from '../../../parts/Notes.tsx'
import { Time, bytes } from '../../../parts/Time.tsx'
import { pathOf, useSession } from '../session.ts'
import { readDrop, type Dropped } from './dropped.ts'
import { listFolder, type FileEntry } from './file-calls.ts'

const REFETCH_MS = 10_000
const MAX_SHOWN = 1_000

export interface FileActs {
  readonly open: (entry: FileEntry) => void
  readonly enter: (entry: FileEntry) => void
  readonly rename: (entry: FileEntry) => void
  readonly remove: (entry: FileEntry) => void
  readonly create: (entry: FileEntry, kind: 'file' | 'folder') => void
  readonly upload: (entry: FileEntry, files: Promise<readonly Dropped[]>) => void
}

export interface FolderProps {
  readonly path: string
  readonly level: number
  readonly acts: FileActs
}

export function Folder({ path, level, acts }: FolderProps) {
  const session = useSession()
  const { client } = useApi()
  const query = useQuery({
    queryKey: ['session_files', session.session_id, path],
    queryFn: ({ signal }) => listFolder(client, session.session_id, path, signal),
    placeholderData: noPlaceholder,
    refetchInterval: REFETCH_MS,
  })
  if (!query.data) {
    return (
      <Line level={level}>
        <Pending query={query} what="the folder" />
      </Line>
    )
  }
  if (query.data.length === 0) {
    return (
      <Line level={level} isQuiet>
        Empty
      </Line>
    )
  }
  return (
    <>
      {query.data.slice(0, MAX_SHOWN).map((entry) => (
        <Entry key={entry.path} entry={entry} level={level} acts={acts} />
      ))}
      {query.data.length > MAX_SHOWN && (
        <Line level={level} isQuiet>
          {query.data.length - MAX_SHOWN} more are not shown
        </Line>
      )}
    </>
  )
}

/** A tree has only items, also where it has to say something. */
function Line({ level, isQuiet = false, children }: LineProps) {
  return (
    <li
      role="treeitem"
      aria-level={level}
      aria-selected={false}
      className={isQuiet ? 'quiet file-empty' : ''}
    >
      {children}
    </li>
  )
}

interface LineProps {
  readonly level: number
  readonly isQuiet?: boolean
  readonly children: ReactNode
}

function Entry({ entry, level, acts }: { entry: FileEntry; level: number; acts: FileActs }) {
  const [isOpen, setOpen] = useState(false)
  const [isOver, setOver] = useState(false)
  const row = useRef<HTMLDivElement>(null)
  const { is_dir: isFolder } = entry
  const open = () => (isFolder ? setOpen(!isOpen) : acts.open(entry))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return
    if (event.key === 'Enter' || event.key === ' ') open()
    else if (event.key === 'ArrowRight' && isFolder) setOpen(true)
    else if (event.key === 'ArrowLeft' && isFolder) setOpen(false)
    else if (event.key === 'ArrowDown') focusNext(row.current!, 1)
    else if (event.key === 'ArrowUp') focusNext(row.current!, -1)
    else if (event.key === 'Delete') acts.remove(entry)
    else if (event.key === 'F2') acts.rename(entry)
    else return
    event.preventDefault()
  }
  const drop = isFolder && {
    onDragOver: (event: DragEvent) => {
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      event.stopPropagation()
      setOver(false)
      acts.upload(entry, readDrop(event.dataTransfer))
    },
  }
  return (
    <li role="none">
      <div
        ref={row}
        className="file-row"
        role="treeitem"
        aria-level={level}
        aria-selected={false}
        {...(isFolder && { 'aria-expanded': isOpen })}
        tabIndex={0}
        data-over={isOver}
        style={{ paddingLeft: `${level * 16}px` }}
        onKeyDown={onKeyDown}
        onClick={(event) => {
          // The menu is elsewhere in the page, but its clicks come by here.
          const target = event.target as Element
          if (event.currentTarget.contains(target) && target.closest('.file-act') === null) open()
        }}
        {...drop}
      >
        <Icon name={isFolder ? (isOpen ? 'down' : 'right') : 'file'} size={14} />
        {isFolder && <Icon name="folder" size={15} />}
        <span className="file-name" title={entry.path}>
          {entry.name}
        </span>
        <span className="quiet number file-size">{isFolder ? '' : bytes(entry.size_bytes)}</span>
        <span className="quiet file-time">
          <Time at={entry.mod_time} />
        </span>
        <EntryMenu entry={entry} acts={acts} />
      </div>
      {isFolder && isOpen && (
        <ul role="group">
          <Folder path={entry.path} level={level + 1} acts={acts} />
        </ul>
      )}
    </li>
  )
}

function EntryMenu({ entry, acts }: { entry: FileEntry; acts: FileActs }) {
  const session = useSession()
  const query = `?path=${encodeURIComponent(entry.path)}`
  const items: MenuItem[] = entry.is_dir
    ? [
        { text: 'Open as root', icon: 'folder', onSelect: () => acts.enter(entry) },
        {
          text: 'Download as zip',
          icon: 'download',
          onSelect: () => save(pathOf(session, `/fs/download_dir_zip${query}`), `${entry.name}.zip`),
        },
        { text: 'New file here', icon: 'file', onSelect: () => acts.create(entry, 'file') },
        { text: 'New folder here', icon: 'folder', onSelect: () => acts.create(entry, 'folder') },
      ]
    : [
        { text: 'Edit', icon: 'file', onSelect: () => acts.open(entry) },
        {
          text: 'Download',
          icon: 'download',
          onSelect: () => save(pathOf(session, `/fs/read_file${query}`), entry.name),
        },
      ]
  return (
    <span className="file-act">
      <Menu
        label={`Actions for ${entry.name}`}
        items={[
          ...items,
          { text: 'Rename or move', onSelect: () => acts.rename(entry) },
          { text: 'Delete', icon: 'trash', isDanger: true, onSelect: () => acts.remove(entry) },
        ]}
      />
    </span>
  )
}

/** Always a download: what a session has written must never be a page of ours. */
function save(url: string, name: string): void {
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  document.body.append(link)
  link.click()
  link.remove()
}

function focusNext(row: HTMLElement, by: 1 | -1): void {
  const rows = [...(row.closest('[role="tree"]')?.querySelectorAll<HTMLElement>('.file-row') ?? [])]
  rows[rows.indexOf(row) + by]?.focus()
}
