import type { Browser } from '@berth/contracts/browsers'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { curl } from '../../parts/command.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Empty, ErrorNote, Pending } from '../../parts/Notes.tsx'
import { Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { Capacity } from './Capacity.tsx'
import { Days } from './Days.tsx'
import { Failures } from './Failures.tsx'
import { overviewQuery } from './overview-query.ts'
import { Tiles } from './Tiles.tsx'

/** As many as one stream of pictures takes. */
const MAX_TILES = 100

export function OverviewPage() {
  const { power } = useApi()
  if (power.can('browsers:read')) return <Seen />
  return (
    <Page title="Overview">
      <Empty
        icon="overview"
        title="This key may not see sessions"
        text="It lacks the scope browsers:read. Choose a page from the menu."
      />
    </Page>
  )
}

function Seen() {
  const { client, power, projectId } = useApi()
  const overview = useQuery(overviewQuery(projectId))
  const alive = useQuery({
    queryKey: ['browser', 'alive', projectId ?? null],
    queryFn: async ({ signal }) => {
      const page = await client.browsers.list({ limit: MAX_TILES }, { signal })
      return page.getPaginatedItems() as unknown as Browser[]
    },
  })
  const { data } = overview
  const sessions = alive.data ?? []
  const { headless = 0, headful = 0 } = data?.capacity.sessions.starting ?? {}
  const starting = headless + headful
  const isNew =
    data !== undefined &&
    alive.data?.length === 0 &&
    starting === 0 &&
    data.days.every((day) => day.sessions === 0)
  return (
    <Page
      title="Overview"
      actions={
        power.can('browsers:write') && (
          <Link
            to="/sessions"
            search={(old: { project?: string }) => ({ ...keepProject(old), create: true })}
            className="button primary"
          >
            <Icon name="plus" size={16} /> Create a session
          </Link>
        )
      }
    >
      {!data && <Pending query={overview} what="the overview" />}
      {data && overview.error !== null && <ErrorNote error={overview.error} />}
      {alive.error !== null && <ErrorNote error={alive.error} onRetry={() => void alive.refetch()} />}
      {isNew && <First />}
      {data && !isNew && (
        <>
          <Tiles sessions={sessions} hasMore={sessions.length === MAX_TILES} starting={starting} />
          <div className="cards">
            <Days days={data.days} />
            <Capacity capacity={data.capacity} />
          </div>
          <Failures failures={data.failures} />
        </>
      )}
    </Page>
  )
}

function First() {
  const { projectId } = useApi()
  return (
    <Empty
      icon="sessions"
      title="Start the first session"
      text="Put a key into the variable BERTH_API_KEY of your shell, and copy this. The session appears here by itself."
      command={curl({
        projectId,
        path: '/browsers',
        body: { start_url: 'https://example.com', timeout_seconds: 300 },
      })}
    >
      <a href="/docs/guide" target="_blank" rel="noreferrer">
        Read the guide
      </a>
    </Empty>
  )
}
