// Playwright code that runs beside the browser.
import { lazy, Suspense, useRef, useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { ErrorNote, Loading } from '../../../parts/Notes.tsx'
import { duration } from '../../../parts/Time.tsx'
import { useSession } from '../session.ts'
import { completePlaywright } from './complete.ts'
import { RunResult, type Run } from './RunResult.tsx'
import './code.css'

const Editor = lazy(() => import('../../../parts/Editor.tsx'))

const MAX_RUNS = 50
const TIMEOUT_SECONDS = 60
const first = `await page.goto('https://example.com')
return await page.title()
`

/** Until the page is loaded again, by session. */
const memory = new Map<string, { code: string; runs: readonly Run[] }>()
const MAX_REMEMBERED = 20

export default function CodeTab() {
  const session = useSession()
  const { client } = useApi()
  const id = session.session_id
  const kept = memory.get(id)
  const [start, setStart] = useState({ turn: 0, code: kept?.code ?? first })
  const code = useRef(start.code)
  const [runs, setRuns] = useState<readonly Run[]>(kept?.runs ?? [])
  const [error, setError] = useState<unknown>()
  const [running, setRunning] = useState<AbortController>()
  const remember = (next: readonly Run[]) => {
    memory.delete(id)
    memory.set(id, { code: code.current, runs: next })
    if (memory.size > MAX_REMEMBERED) memory.delete(memory.keys().next().value!)
  }
  const run = async () => {
    if (running || code.current.trim() === '') return
    const stop = new AbortController()
    setRunning(stop)
    setError(undefined)
    const began = performance.now()
    try {
      const answer = await client.browsers.playwright.execute(
        id,
        { code: code.current, timeout_sec: TIMEOUT_SECONDS },
        { signal: stop.signal, timeout: (TIMEOUT_SECONDS + 10) * 1000, maxRetries: 0 },
      )
      const next = [
        { key: Date.now(), code: code.current, answer, ms: performance.now() - began },
        ...runs,
      ].slice(0, MAX_RUNS)
      setRuns(next)
      remember(next)
    } catch (thrown) {
      if (!stop.signal.aborted) setError(thrown)
    } finally {
      setRunning(undefined)
    }
  }
  return (
    <div className="code-tab">
      <div className="tab-bar">
        <button type="button" className="primary" disabled={running !== undefined} onClick={() => void run()}>
          <Icon name="play" size={15} /> {running ? 'Running' : 'Run'}
        </button>
        {running && (
          <button type="button" onClick={() => running.abort()}>
            Cancel
          </button>
        )}
        <small className="quiet">Ctrl-Enter runs it. The code has page, context and browser.</small>
      </div>
      <div className="code-editor">
        <Suspense fallback={<Loading what="the editor" />}>
          <Editor
            key={start.turn}
            label="Playwright code"
            text={start.code}
            language="typescript"
            complete={completePlaywright}
            onChange={(text) => {
              code.current = text
              remember(runs)
            }}
            onRun={() => void run()}
          />
        </Suspense>
      </div>
      <div className="code-results" role="log" aria-label="Results" tabIndex={0}>
        {error !== undefined && <ErrorNote error={error} />}
        {runs.length === 0 && error === undefined && (
          <p className="quiet">What the code returns appears here.</p>
        )}
        {runs.map((each, index) => (
          <RunResult
            key={each.key}
            run={each}
            about={duration(each.ms)}
            isOpen={index === 0}
            onReuse={() => {
              code.current = each.code
              setStart({ turn: start.turn + 1, code: each.code })
            }}
          />
        ))}
      </div>
    </div>
  )
}
