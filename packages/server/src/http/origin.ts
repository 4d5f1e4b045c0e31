import type { FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { isInside } from './inside.ts'

/** The start of the URLs in answers: the public URL, or the address this caller used. */
export function originOf(config: Pick<Config, 'BERTH_PUBLIC_URL'>, request: FastifyRequest): string {
  if (isInside(request.raw.socket)) return `http://${request.host}`
  return config.BERTH_PUBLIC_URL?.origin ?? `${request.protocol}://${request.host}`
}
