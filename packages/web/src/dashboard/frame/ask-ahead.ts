// Asks for what the first page shows while the page itself is still being loaded and drawn. Whoever needs the answers
// finds them in the cache, or waits for the same requests.
import type { QueryClient } from '@tanstack/react-query'
import { powerOf, signInQuery } from '../api/sign-in.ts'
import { overviewQuery } from '../pages/overview/overview-query.ts'
import { BASE } from './routes.tsx'

export async function askAhead(queries: QueryClient, { pathname, search }: Location): Promise<void> {
  const who = await queries.fetchQuery(signInQuery)
  if (who === null || pathname.replace(/\/$/, '') !== BASE) return
  const power = powerOf(who)
  const project = power.isOrganization ? new URLSearchParams(search).get('project') : null
  if (power.can('browsers:read')) await queries.prefetchQuery(overviewQuery(project ?? undefined))
}
