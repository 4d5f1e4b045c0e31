// Everything that happened, by time, in step with the recording.
import { useCallback, useMemo } from 'react'
import { ErrorNote } from '../../../parts/Notes.tsx'
import { Empty, Loading } from '../../../parts/Notes.tsx'
import { hasEnded, useSession } from '../session.ts'
import { usePlayer } from '../stage/player.ts'
import { Details } from './Details.tsx'
import { EventList } from './EventList.tsx'
import { filterExchanges, filterLines, useFilter } from './filter.ts'
import { TelemetryOff } from './TelemetryOff.tsx'
import { TimelineBar } from './TimelineBar.tsx'
import { useEventLog } from './use-event-log.ts'
import { Waterfall } from './Waterfall.tsx'
import './timeline.css'

export function TimelineTab() {
  const session = useSession()
  const player = usePlayer()
  const log = useEventLog()
  const [filter, change] = useFilter()
  const lines = useMemo(() => filterLines(log.lines, filter), [log.lines, filter])
  const exchanges = useMemo(() => filterExchanges(log.exchanges, filter), [log.exchanges, filter])
  const open = useCallback(
    (seq: number, ms: number) => {
      player.goTo(ms)
      change({ event: seq })
    },
    // eslint-disable-next-line -- `change` is new at every render, and reads the address when it is called.
    [player, filter],
  )
  const isOff = session.telemetry === undefined && !hasEnded(session)
  const startMs = new Date(session.created_at).getTime()
  const isEmpty = log.lines.length === 0
  return (
    <div className="timeline">
      {isOff && <TelemetryOff />}
      {(!isOff || !isEmpty) && <TimelineBar filter={filter} change={change} log={log} shown={lines.length} />}
      {log.error !== undefined && log.state === 'away' && <ErrorNote error={log.error} />}
      {isEmpty ? (
        log.state === 'reading' ? (
          <Loading what="the events" />
        ) : (
          !isOff && <NoEvents />
        )
      ) : (
        <div className="timeline-body" data-open={filter.event !== undefined}>
          {filter.view === 'network' ? (
            <Waterfall exchanges={exchanges} opened={filter.event} onOpen={open} />
          ) : (
            <EventList
              lines={lines}
              startMs={startMs}
              opened={filter.event}
              isLive={log.state === 'live'}
              onOpen={open}
            />
          )}
          {filter.event !== undefined && (
            <Details
              key={filter.event}
              seq={filter.event}
              endSeq={log.exchanges.find(({ seq }) => seq === filter.event)?.endSeq}
              startMs={startMs}
              onClose={() => change({ event: undefined })}
            />
          )}
        </div>
      )}
    </div>
  )
}

function NoEvents() {
  const session = useSession()
  return (
    <Empty
      icon="clock"
      title="No events"
      text={
        hasEnded(session)
          ? 'Telemetry was off, or its events are older than the server keeps them.'
          : 'Nothing happened yet. What happens appears here by itself.'
      }
    />
  )
}
