import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Choice } from '../../parts/Choice.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { parseTag, type Filters, type Status } from './filters.ts'

/** Long enough that a quick typist asks once for a word, short enough that nobody waits for it. */
const TYPING_MS = 40

const words: Readonly<Record<Status, string>> = { active: 'Running', deleted: 'Ended', all: 'All' }

export interface FilterBarProps {
  readonly filters: Filters
  readonly onChange: (next: Partial<Filters>, how?: { replace?: boolean }) => void
  readonly children: ReactNode
}

export function FilterBar({ filters, onChange, children }: FilterBarProps) {
  const { status, query, tags } = filters
  const [text, setText] = useState(query)
  const [tag, setTag] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const sent = useRef(query)
  // The back button, or a link.
  useEffect(() => {
    if (query !== sent.current) setText(query)
    sent.current = query
  }, [query])
  useEffect(() => () => clearTimeout(timer.current), [])
  const type = (typed: string) => {
    setText(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      sent.current = typed
      onChange({ query: typed }, { replace: true })
    }, TYPING_MS)
  }
  const addTag = () => {
    const parsed = parseTag(tag)
    if (!parsed) return
    setTag('')
    onChange({ tags: { ...tags, [parsed[0]]: parsed[1] } })
  }
  return (
    <div className="filters" role="search" aria-label="Sessions">
      <Choice
        label="State"
        options={words}
        value={status}
        onChange={(chosen) => onChange({ status: chosen })}
      />
      <input
        type="search"
        aria-label="Find by name, id, profile or pool"
        placeholder="Name, id, profile or pool"
        maxLength={255}
        value={text}
        onChange={({ target }) => type(target.value)}
      />
      <input
        className="tag-input"
        aria-label="Filter by tag, as name=value"
        placeholder="tag=value"
        maxLength={511}
        value={tag}
        onChange={({ target }) => setTag(target.value)}
        onKeyDown={({ key }) => key === 'Enter' && addTag()}
        onBlur={addTag}
      />
      {Object.entries(tags).map(([name, value]) => (
        <button
          type="button"
          key={name}
          className="tag removable"
          aria-label={`Remove the filter ${name}=${value}`}
          onClick={() => onChange({ tags: without(tags, name) })}
        >
          {name}
          {value !== '' && <b>{value}</b>}
          <Icon name="close" size={12} />
        </button>
      ))}
      {children}
    </div>
  )
}

const without = (tags: Filters['tags'], name: string) =>
  Object.fromEntries(Object.entries(tags).filter(([each]) => each !== name))
