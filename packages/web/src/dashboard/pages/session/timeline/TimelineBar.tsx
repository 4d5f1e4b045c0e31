// Search, filters, and where the events come from.
import { useEffect, useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { counted } from '../../../parts/counted.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { Menu } from '../../../parts/Menu.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { hasEnded, pathOf, useSession } from '../session.ts'
import type { LogView } from './event-log.ts'
import type { Filter } from './filter.ts'

const SEARCH_MS = 150

export const categoryWords = {
  console: 'Console',
  network: 'Network',
  page: 'Pages',
  interaction: 'Clicks and keys',
  screenshot: 'Screenshots',
  control: 'API calls',
  connection: 'Clients',
  system: 'System',
  captcha: 'Captchas',
} as const

type Category = keyof typeof categoryWords
const categories = Object.keys(categoryWords) as Category[]

export interface TimelineBarProps {
  readonly filter: Filter
  readonly change: (change: Partial<Filter>) => void
  readonly log: LogView
  readonly shown: number
}

export function TimelineBar({ filter, change, log, shown }: TimelineBarProps) {
  const session = useSession()
  const isNetwork = filter.view === 'network'
  const toggle = (category: string) =>
    change({
      categories: filter.categories.includes(category)
        ? filter.categories.filter((each) => each !== category)
        : [...filter.categories, category],
    })
  return (
    <div className="timeline-bar">
      <div className="filters">
        <div className="segments" role="group" aria-label="View">
          <button type="button" aria-pressed={!isNetwork} onClick={() => change({ view: 'events' })}>
            Events
          </button>
          <button type="button" aria-pressed={isNetwork} onClick={() => change({ view: 'network' })}>
            Waterfall
          </button>
        </div>
        <Search value={filter.q} onChange={(q) => change({ q })} />
        <button
          type="button"
          className="chip"
          aria-pressed={filter.isErrorsOnly}
          onClick={() => change({ isErrorsOnly: !filter.isErrorsOnly })}
        >
          Errors
        </button>
        <span className="spacer" />
        <CaptureMenu />
        <a className="button" href={pathOf(session, '/telemetry/har')} download title="Download as HAR">
          <Icon name="download" size={15} /> HAR
        </a>
      </div>
      {!isNetwork && (
        <div className="chips" role="group" aria-label="Kinds of events">
          {categories.map((category) => (
            <button
              key={category}
              type="button"
              className="chip"
              data-category={category}
              aria-pressed={filter.categories.includes(category)}
              onClick={() => toggle(category)}
            >
              {categoryWords[category]}
            </button>
          ))}
        </div>
      )}
      <p className="quiet number timeline-count" role="status">
        {isNetwork ? `${log.exchanges.length.toLocaleString('en')} requests` : countOf(shown, log)}
        {log.isCut && ', older ones are left out'}
        {stateWords[log.state]}
      </p>
    </div>
  )
}

const stateWords: Readonly<Record<LogView['state'], string>> = {
  reading: ', reading',
  live: ', live',
  complete: '',
  away: ', the stream is away and comes back by itself',
}

const countOf = (shown: number, { lines }: LogView) =>
  shown === lines.length
    ? counted(lines.length, 'Events')
    : `${shown.toLocaleString('en')} of ${counted(lines.length, 'Events')}`

function Search({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => onChange(text), SEARCH_MS)
    return () => clearTimeout(timer)
  })
  return (
    <input
      type="search"
      aria-label="Search events"
      placeholder="Search"
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  )
}

/** What is captured from now on. */
function CaptureMenu() {
  const session = useSession()
  const { client, power } = useApi()
  const set = useAct({
    run: ({ category, enabled }: { category: Category; enabled: boolean }) =>
      client.browsers.update(session.session_id, { telemetry: { browser: { [category]: { enabled } } } }),
    done: 'The next events follow the new choice',
    changes: ['browser'],
  })
  const captured = session.telemetry?.browser
  if (hasEnded(session) || !power.can('browsers:write') || captured === undefined) return null
  return (
    <Menu
      label="What is recorded"
      items={categories.map((category) => {
        const isOn = captured[category]?.enabled === true
        return {
          text: categoryWords[category],
          ...(isOn && { icon: 'check' as const }),
          onSelect: () => set.mutate({ category, enabled: !isOn }),
        }
      })}
    >
      <Icon name="settings" size={15} />
    </Menu>
  )
}
