// The tabs beside the screen. Each ends what it started when it is left. All but the first are loaded when somebody opens
// them: React shows what was loaded late up to 300 ms later, so that places do not flicker.
import { lazy, Suspense, useEffect, useRef, type ComponentType, type KeyboardEvent } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { OperationScope } from '@berth/contracts/scopes'
import { usePower } from '../../api/context.ts'
import { Loading } from '../../parts/Notes.tsx'
import { hasEnded, useSession } from './session.ts'
import { TimelineTab } from './timeline/TimelineTab.tsx'

interface Tab {
  readonly id: string
  readonly text: string
  readonly scope?: OperationScope
  readonly isForEnded?: boolean
  readonly Content: ComponentType
}

/** The tabs that act on the browser need a key that may write. */
const scope = 'browsers:write'

const tabs: readonly Tab[] = [
  {
    id: 'timeline',
    text: 'Timeline',
    isForEnded: true,
    Content: TimelineTab,
  },
  { id: 'terminal', text: 'Terminal', scope, Content: lazy(() => import('./terminal/TerminalTab.tsx')) },
  { id: 'files', text: 'Files', scope, Content: lazy(() => import('./files/FilesTab.tsx')) },
  { id: 'processes', text: 'Processes', scope, Content: lazy(() => import('./processes/ProcessesTab.tsx')) },
  { id: 'playwright', text: 'Playwright', scope, Content: lazy(() => import('./code/CodeTab.tsx')) },
  {
    id: 'screen',
    text: 'Screen',
    scope,
    Content: lazy(() => import('./screen/ScreenTab.tsx')),
  },
  { id: 'devtools', text: 'DevTools', scope, Content: lazy(() => import('./devtools/DevtoolsTab.tsx')) },
  { id: 'connect', text: 'Connect', scope, Content: lazy(() => import('./connect/ConnectTab.tsx')) },
  { id: 'details', text: 'Details', isForEnded: true, Content: lazy(() => import('./head/DetailsTab.tsx')) },
]

export function SessionTabs() {
  const session = useSession()
  const power = usePower()
  const { tab: chosen } = useSearch({ strict: false }) as { tab?: string }
  const navigate = useNavigate()
  const shown = tabs.filter(
    ({ scope: needed, isForEnded }) =>
      (isForEnded === true || !hasEnded(session)) && (needed === undefined || power.can(needed)),
  )
  const tab = shown.find(({ id }) => id === chosen) ?? shown[0]!
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current
      ?.querySelector('[aria-selected="true"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab.id])
  const open = (id: string) => {
    void navigate({ to: '.', search: ({ project }: { project?: string }) => ({ project, tab: id }) })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    const next = shown.at((shown.indexOf(tab) + by) % shown.length)!
    open(next.id)
    document.getElementById(`tab-${next.id}`)?.focus()
  }
  const { Content } = tab
  return (
    <>
      <div className="tabs" role="tablist" aria-label="Parts of the session" ref={list}>
        {shown.map(({ id, text }) => (
          <button
            key={id}
            id={`tab-${id}`}
            type="button"
            role="tab"
            aria-selected={id === tab.id}
            aria-controls="tab-content"
            tabIndex={id === tab.id ? 0 : -1}
            onClick={() => open(id)}
            onKeyDown={onKeyDown}
          >
            {text}
          </button>
        ))}
      </div>
      <div className="tab-content" role="tabpanel" id="tab-content" aria-labelledby={`tab-${tab.id}`}>
        <Suspense fallback={<Loading what="the tab" />}>
          <Content key={tab.id} />
        </Suspense>
      </div>
    </>
  )
}
