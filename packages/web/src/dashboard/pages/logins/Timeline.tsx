import type { TimelineEvent, TimelineType } from '@berth/contracts/auth-connections'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Card } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { ShowMore } from '../../parts/ShowMore.tsx'
import { Time } from '../../parts/Time.tsx'
import { useLongList } from '../../parts/use-long-list.ts'
import { useUrl } from '../../parts/use-url.ts'
import { Steps } from './Steps.tsx'

const typeWords: Readonly<Record<TimelineType, string>> = {
  login: 'Login',
  reauth: 'Login by itself',
  health_check: 'Check',
}

const statusWords: Readonly<Record<TimelineEvent['status'], readonly [Tone, string]>> = {
  IN_PROGRESS: ['accent', 'In progress'],
  SUCCESS: ['good', 'Worked'],
  FAILED: ['bad', 'Failed'],
  EXPIRED: ['warn', 'Took too long'],
  CANCELED: ['quiet', 'Cancelled'],
  AUTHENTICATED: ['good', 'Logged in'],
  NEEDS_AUTH: ['warn', 'Logged out'],
}

const idOf = ({ id, timestamp }: TimelineEvent) => `${id}${timestamp}`

export function Timeline({ id }: { id: string }) {
  const { client } = useApi()
  const url = useUrl()
  const type = url.text('type') as TimelineType | ''
  const list = useLongList<TimelineEvent>({
    key: ['auth_connection', 'timeline', id, type],
    idOf,
    read: async (page, signal) =>
      // SAFETY: as everywhere, Berth's answers have more than the client names.
      (
        await client.auth.connections.timeline(id, { ...page, ...(type !== '' && { type }) }, { signal })
      ).getPaginatedItems() as TimelineEvent[],
  })
  return (
    <Card
      title="Timeline"
      actions={
        <select
          aria-label="Kind of event"
          value={type}
          onChange={({ target }) => url.set({ type: target.value || undefined }, { replace: true })}
        >
          <option value="">Everything</option>
          {Object.entries(typeWords).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      }
    >
      {list.isPending || list.error ? (
        <Pending query={list} what="the timeline" />
      ) : list.rows.length === 0 ? (
        <p className="quiet">Nothing yet.</p>
      ) : (
        <ol className="events">
          {list.rows.map((event) => (
            <Event key={idOf(event)} connectionId={id} event={event} />
          ))}
        </ol>
      )}
      <ShowMore list={list} />
    </Card>
  )
}

function Event({ connectionId, event }: { connectionId: string; event: TimelineEvent }) {
  const [tone, text] = statusWords[event.status]
  const session = event.browser_session_id
  return (
    <li>
      <span className="strong">{typeWords[event.type]}</span>
      <Badge tone={tone}>{text}</Badge>
      <span className="quiet">
        <Time at={event.timestamp} />
      </span>
      {session !== undefined && (
        <Link to={`/sessions/${session}`} search={keepProject}>
          Session
        </Link>
      )}
      {event.error_message !== undefined && <p>{event.error_message}</p>}
      {event.website_error !== undefined && <p className="quiet">The website said: {event.website_error}</p>}
      <Steps connectionId={connectionId} event={event} />
    </li>
  )
}
