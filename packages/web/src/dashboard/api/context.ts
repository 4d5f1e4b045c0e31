// What every page has at hand: the client for the chosen project, and the power of the key.
import { createContext, useContext } from 'react'
import type { Kernel } from '@onkernel/sdk'
import { ask, type AskOptions } from './client.ts'
import type { Power } from './sign-in.ts'

export interface Api {
  readonly client: Kernel
  readonly power: Power
  /** Undefined: every project that the key sees. */
  readonly projectId: string | undefined
}

export const ApiContext = createContext<Api | undefined>(undefined)

export function useApi(): Api {
  const api = useContext(ApiContext)
  if (!api) throw new Error('There is no API around this element')
  return api
}

export const usePower = (): Power => useApi().power

/** What the client does not know, for the chosen project. */
export function useAsk() {
  const { projectId } = useApi()
  return <Answer>(path: string, init?: AskOptions) => ask<Answer>(path, { projectId, ...init })
}
