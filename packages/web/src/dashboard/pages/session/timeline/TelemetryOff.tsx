import { useApi } from '../../../api/context.ts'
import { Empty } from '../../../parts/Notes.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { useSession } from '../session.ts'

const on = { enabled: true }

/** Events are recorded only for sessions that ask for it. */
export function TelemetryOff() {
  const session = useSession()
  const { client, power } = useApi()
  const start = useAct({
    run: () =>
      client.browsers.update(session.session_id, {
        telemetry: {
          enabled: true,
          browser: { console: on, network: on, page: on, interaction: on, screenshot: on },
        },
      }),
    done: 'Events are recorded from now on',
    changes: ['browser'],
  })
  return (
    <Empty
      icon="clock"
      title="Telemetry is off"
      text="The session records no console lines, requests, pages or clicks. You can switch it on now; what happened before stays unknown."
    >
      {power.can('browsers:write') && (
        <button type="button" className="primary" disabled={start.isPending} onClick={() => start.mutate()}>
          Record events
        </button>
      )}
    </Empty>
  )
}
