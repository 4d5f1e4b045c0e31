// What a request says about a session's proxy: `proxy`, or the older `proxy_id` and `disable_default_proxy`.
import type { CreateBrowserRequest, UpdateBrowserRequest } from '@berth/contracts/browsers'
import type { ProxySelectionRequest } from '@berth/contracts/proxies'
import { invalidInput } from '../../platform/errors/app-error.ts'
import type { ProxyChange } from '../browsers/types.ts'

type Selected = { readonly id: string } | { readonly name: string } | { readonly mode: 'default' | 'direct' }

/** The id of the only proxy with this name; throws when there is none or more than one. */
export type IdOfName = (name: string) => Promise<string>

export async function choiceAtCreation(
  { proxy, proxy_id }: Pick<CreateBrowserRequest, 'proxy' | 'proxy_id'>,
  idOfName: IdOfName,
): Promise<Required<ProxyChange>> {
  if (proxy === undefined) return { proxyId: proxy_id || null, isDefaultProxyDisabled: false }
  if (proxy_id !== undefined) throw notTogether('proxy_id')
  return resolve(proxy, idOfName)
}

/** Undefined when the request says nothing about it. */
export async function choiceAtUpdate(
  { proxy, proxy_id, disable_default_proxy: isDisabled }: UpdateBrowserRequest,
  { isStealth, idOfName }: { isStealth: boolean; idOfName: IdOfName },
): Promise<ProxyChange | undefined> {
  const hasId = proxy_id !== undefined && proxy_id !== null
  if (proxy !== undefined) {
    if (hasId) throw notTogether('proxy_id')
    if (isDisabled !== undefined) throw notTogether('disable_default_proxy')
    return resolve(proxy, idOfName)
  }
  if (isDisabled !== undefined && hasId) {
    throw invalidInput('disable_default_proxy', 'cannot be given together with proxy_id')
  }
  if (isDisabled === true && !isStealth) {
    throw invalidInput('disable_default_proxy', 'is only for stealth sessions: others have no default proxy')
  }
  if (!hasId && isDisabled === undefined) return undefined
  return {
    ...(hasId && { proxyId: proxy_id || null }),
    ...(isDisabled !== undefined && { isDefaultProxyDisabled: isDisabled }),
  }
}

async function resolve(proxy: ProxySelectionRequest, idOfName: IdOfName): Promise<Required<ProxyChange>> {
  const selected = onlyOne(proxy)
  if ('mode' in selected) return { proxyId: null, isDefaultProxyDisabled: selected.mode === 'direct' }
  const proxyId = 'id' in selected ? selected.id : await idOfName(selected.name)
  return { proxyId, isDefaultProxyDisabled: false }
}

function onlyOne({ id, name, mode }: ProxySelectionRequest): Selected {
  const given = [id, name, mode].filter((each) => each !== undefined)
  if (given.length !== 1) throw invalidInput('proxy', 'needs exactly one of id, name and mode')
  if (id !== undefined) return { id }
  // SAFETY: exactly one is given.
  return name !== undefined ? { name } : { mode: mode! }
}

function notTogether(field: string) {
  return invalidInput('proxy', `cannot be given together with ${field}`)
}
