// What each project may ask of this server: so many requests a minute, and so many at once. A request that waits or
// streams counts until it is over, so the held requests of one project leave room for those of others.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import { AppError } from '../platform/errors/app-error.ts'
import { RateLimit } from './rate-limit.ts'

export interface RequestSharesOptions {
  readonly perMinute: number
  readonly atOnce: number
}

export class RequestShares {
  readonly #rate: RateLimit
  readonly #atOnce: KeyedLimit<string | null>

  constructor({ perMinute, atOnce }: RequestSharesOptions) {
    this.#rate = new RateLimit(perMinute)
    this.#atOnce = new KeyedLimit(atOnce)
  }

  /** Counts a request that is for a project, or for none in particular. Throws when the share is used up. */
  take(projectId: string | null, request: FastifyRequest, reply: FastifyReply): void {
    const headers = this.#rate.take(projectId)
    if (headers) reply.headers(headers)
    request.place = this.#atOnce.enter(projectId) ?? null
    if (request.place) return
    const whose = projectId === null ? 'without a project' : 'of the project'
    throw new AppError(
      'too_many_requests',
      `Cannot take the request: ${this.#atOnce.max} requests ${whose} are running; wait for one to end`,
      { headers: { 'retry-after': '1' } },
    )
  }
}
