// The published client in the versions that differ: 0.55 uses /projects and computes offsets wrongly, 0.70 has API
// keys and correct paging, 0.84 is the newest. 0.24 and 0.32 call connections auth agents.
import { Kernel as Kernel24 } from 'kernel-sdk-0-24'
import { Kernel as Kernel32 } from 'kernel-sdk-0-32'
import { Kernel as Kernel55 } from 'kernel-sdk-0-55'
import { Kernel as Kernel70 } from 'kernel-sdk-0-70'
import { Kernel as Kernel84 } from 'kernel-sdk-0-84'
import type { TestServer } from '../fixtures/server.ts'

export interface ClientOptions {
  readonly apiKey?: string
  readonly headers?: Record<string, string>
  readonly fetch?: typeof fetch
  readonly maxRetries?: number
}

type Reached = Pick<TestServer, 'url' | 'key'>

function settings(server: Reached, { apiKey = server.key, headers = {}, ...rest }: ClientOptions = {}) {
  return { baseURL: server.url, apiKey, defaultHeaders: headers, ...rest }
}

export const client24 = (server: Reached, options?: ClientOptions) => new Kernel24(settings(server, options))
export const client32 = (server: Reached, options?: ClientOptions) => new Kernel32(settings(server, options))
export const client55 = (server: Reached, options?: ClientOptions) => new Kernel55(settings(server, options))
export const client70 = (server: Reached, options?: ClientOptions) => new Kernel70(settings(server, options))
export const client84 = (server: Reached, options?: ClientOptions) => new Kernel84(settings(server, options))
