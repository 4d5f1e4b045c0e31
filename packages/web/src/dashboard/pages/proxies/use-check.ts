import type { Proxy } from '@berth/contracts/proxies'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useAsk } from '../../api/context.ts'
import { say, sayProblem } from '../../parts/toasts.ts'
import { titleOf } from './proxy.ts'

export const checkKey = (id: string) => ['proxy', 'check', id]

/** Checks through the proxy; with a URL, whether it reaches that. It can take a while, and whoever shows it says so. */
export function useCheck(id: string) {
  const ask = useAsk()
  const queries = useQueryClient()
  return useMutation({
    mutationKey: checkKey(id),
    mutationFn: (url: string | undefined) =>
      ask<Proxy>(`/proxies/${encodeURIComponent(id)}/check`, {
        method: 'POST',
        body: url === undefined ? {} : { url },
      }),
    onSuccess: (proxy, url) => {
      const through = url === undefined ? '' : `, to ${url}`
      const ip = proxy.ip_address === undefined ? '' : ` from ${proxy.ip_address}`
      if (proxy.status === 'available') say(`${titleOf(proxy)} works${ip}${through}`)
      else sayProblem({ message: `${titleOf(proxy)} does not work${through}` })
      return queries.invalidateQueries({ queryKey: ['proxy'] })
    },
    onError: sayProblem,
  })
}
