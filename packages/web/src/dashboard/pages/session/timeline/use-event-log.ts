import { useEffect, useState, useSyncExternalStore } from 'react'
import { useApi } from '../../../api/context.ts'
import { hasEnded, pathOf, useSession } from '../session.ts'
import { EventLog, type LogView } from './event-log.ts'

const nothing: LogView = { lines: [], exchanges: [], state: 'reading', error: undefined, isCut: false }
const never = () => () => {}

/** The events of the session, followed while the tab is open. */
export function useEventLog(): LogView {
  const session = useSession()
  const { projectId } = useApi()
  const path = pathOf(session, '/telemetry')
  const isEnded = hasEnded(session)
  const [log, setLog] = useState<EventLog>()
  useEffect(() => {
    const opened = new EventLog(path, projectId)
    setLog(opened)
    void opened.read({ follows: !isEnded })
    return () => opened.close()
  }, [path, projectId, isEnded])
  return useSyncExternalStore(log?.subscribe ?? never, () => log?.view ?? nothing)
}
