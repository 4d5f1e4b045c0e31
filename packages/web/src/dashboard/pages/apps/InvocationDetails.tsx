import type { Invocation, InvocationEvent } from '@berth/contracts/invocations'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useApi, useAsk } from '../../api/context.ts'
import { Code, Copyable } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Facts } from '../../parts/Page.tsx'
import { duration, Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { Uses } from '../../parts/Uses.tsx'
import { LogView } from './LogView.tsx'
import { InvocationState } from './status.tsx'
import { useLog, type LogLine } from './use-log.ts'

/** A page with more text than this in one box is slow. */
const MAX_SHOWN = 100_000

export function InvocationDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const ask = useAsk()
  const { power } = useApi()
  const path = `/invocations/${encodeURIComponent(id)}`
  const query = useOne<Invocation>(['invocation', id], (signal) => ask(path, { signal }))
  const { data: invocation } = query
  const cancel = useAct({
    run: () => ask(path, { method: 'PATCH', body: { status: 'failed' } }),
    done: 'The invocation is cancelled',
    changes: ['invocation', 'browser'],
  })
  const isRunning = invocation?.status === 'queued' || invocation?.status === 'running'
  return (
    <Dialog title={invocation?.action_name ?? 'Invocation'} isOpen isWide onClose={onClose}>
      {invocation ? (
        <>
          <Facts
            facts={[
              ['State', <InvocationState key="state" status={invocation.status} />],
              ['Reason', invocation.status_reason],
              ['App', `${invocation.app_name} ${invocation.version}`],
              ['Started', <Time key="started" at={invocation.started_at} />],
              [
                'Took',
                invocation.finished_at != null &&
                  duration(Date.parse(invocation.finished_at) - Date.parse(invocation.started_at)),
              ],
              ['Id', <Copyable key="id" text={invocation.id} />],
            ]}
          />
          {invocation.output !== undefined && (
            <>
              <h3>Result</h3>
              <Code label="Result" text={pretty(invocation.output)} />
            </>
          )}
          <h3>Log</h3>
          <RunLog path={path} />
          {invocation.payload !== undefined && (
            <details>
              <summary>Payload</summary>
              <Code label="Payload" text={pretty(invocation.payload)} />
            </details>
          )}
          <Sessions id={id} isRunning={isRunning} />
          {isRunning && power.can('apps:write') && (
            <footer>
              <button
                type="button"
                className="danger"
                disabled={cancel.isPending}
                onClick={() => cancel.mutate()}
              >
                Cancel the invocation
              </button>
            </footer>
          )}
        </>
      ) : (
        <Pending query={query} what="the invocation" />
      )}
    </Dialog>
  )
}

function RunLog({ path }: { path: string }) {
  const queries = useQueryClient()
  const log = useLog<InvocationEvent>({
    path: `${path}/events`,
    lineOf,
    isLast: ({ invocation }) => invocation?.status === 'succeeded' || invocation?.status === 'failed',
    onEvent: ({ event }) => {
      if (event === 'invocation_state') void queries.invalidateQueries({ queryKey: ['invocation'] })
    },
  })
  return <LogView label="Log of the invocation" log={log} />
}

function lineOf({ event, message, error, invocation }: InvocationEvent): LogLine | undefined {
  if (event === 'log') return { text: message ?? '' }
  if (event === 'error') return { text: error?.message ?? 'It failed', isBad: true }
  if (event === 'invocation_state' && invocation?.status === 'failed') {
    return { text: invocation.status_reason ?? 'It failed', isBad: true }
  }
  return undefined
}

function Sessions({ id, isRunning }: { id: string; isRunning: boolean }) {
  const { client, power } = useApi()
  const { data = [] } = useQuery({
    queryKey: ['browser', 'of invocation', id, isRunning],
    enabled: power.can('browsers:read'),
    queryFn: async ({ signal }) => (await client.invocations.listBrowsers(id, { signal })).browsers,
  })
  const end = useAct({
    run: () => client.invocations.deleteBrowsers(id),
    done: 'Its sessions are ended',
    changes: ['browser'],
  })
  if (data.length === 0) return null
  return (
    <>
      <h3>Its sessions</h3>
      <Uses
        uses={data.map(({ session_id: session, name }) => ({
          to: `/sessions/${session}`,
          what: 'Session',
          name: name ?? session,
        }))}
      />
      {power.can('apps:write') && (
        <div>
          <button type="button" className="danger" disabled={end.isPending} onClick={() => end.mutate()}>
            End them
          </button>
        </div>
      )}
    </>
  )
}

function pretty(text: string): string {
  if (text.length > MAX_SHOWN) return `${text.slice(0, MAX_SHOWN)}…`
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
