// The session that the page is about.
import { createContext, useContext } from 'react'
import { useQuery } from '@tanstack/react-query'
import { noPlaceholder } from '../../api/queries.ts'
import type { Browser } from '@berth/contracts/browsers'
import type { Replay } from '@berth/contracts/replays'
import { useApi } from '../../api/context.ts'

const REPLAYS_MS = 10_000

export type Session = Browser
export type { Replay }

export function useSessionQuery(id: string) {
  const { client, projectId } = useApi()
  return useQuery({
    queryKey: ['browser', 'one', projectId ?? null, id],
    // SAFETY: Berth answers with its own fields, too.
    queryFn: async ({ signal }) =>
      (await client.browsers.retrieve(id, { include_deleted: true }, { signal })) as Session,
    // Another session is never shown in the place of this one.
    placeholderData: noPlaceholder,
  })
}

export function useReplays(id: string) {
  const { client } = useApi()
  return useQuery({
    queryKey: ['replay', 'of', id],
    queryFn: async ({ signal }) => (await client.browsers.replays.list(id, { signal })) as Replay[],
    placeholderData: noPlaceholder,
    refetchInterval: REPLAYS_MS,
  })
}

export const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('There is no session around this element')
  return session
}

export const hasEnded = ({ deleted_at: endedAt }: Session) => endedAt !== undefined && endedAt !== null

/** The path of the session in the API. */
export const pathOf = ({ session_id: id }: Session, rest: string) =>
  `/browsers/${encodeURIComponent(id)}${rest}`

/** Undefined for a key that may only read. */
export const tokenOf = ({ cdp_ws_url: url }: Session) =>
  url === '' ? undefined : (URL.parse(url)?.searchParams.get('jwt') ?? undefined)
