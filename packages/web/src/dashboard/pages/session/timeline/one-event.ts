// One event with everything that it has.
import { useQuery } from '@tanstack/react-query'
import { noPlaceholder } from '../../../api/queries.ts'
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import { useAsk } from '../../../api/context.ts'
import { pathOf, useSession } from '../session.ts'

export function useOneEvent(seq: number | undefined) {
  const session = useSession()
  const ask = useAsk()
  return useQuery({
    queryKey: ['telemetry_event', session.session_id, seq],
    queryFn: async ({ signal }) => {
      const path = pathOf(session, `/telemetry/events?limit=1&offset=${seq}`)
      const [event] = await ask<TelemetryEvent[]>(path, { signal })
      if (event?.seq !== seq) throw new Error('The server does not keep this event any more')
      return event
    },
    enabled: seq !== undefined,
    // What happened stays as it is.
    staleTime: Infinity,
    gcTime: 60_000,
    placeholderData: noPlaceholder,
  })
}
