import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as contract from '@berth/contracts/replays'
import { callerOf } from '../browsers/routes.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { route, type Route } from '../../http/call.ts'
import { PlayerPages, type ShownPage } from './player.ts'
import type { ReplayService } from './service.ts'

export function replayRoutes(replays: ReplayService): Route[] {
  return [
    route(contract.startReplay, (call) => replays.start(callerOf(call), call.params.id, call.body, call)),
    route(contract.listReplays, (call) => replays.list(callerOf(call), call.params.id)),
    route(contract.downloadReplay, (call) =>
      replays.download(callerOf(call), call.params.id, call.params.replay_id, call.headers.range),
    ),
    route(contract.stopReplay, (call) =>
      replays.stop(callerOf(call), call.params.id, call.params.replay_id, call.commit),
    ),
  ]
}

const REFRESH_SECONDS = 2

/** Serves the pages that people open in a browser; the token is in the URL. */
export function attachPlayer(server: FastifyInstance, replays: ReplayService): void {
  const pages = new PlayerPages()
  server.get(contract.REPLAY_PAGE, async (request, reply) => {
    request.route = contract.REPLAY_PAGE
    const { status, page } = await pageOf(request, replays, pages)
    return reply.code(status).headers(page.headers).send(page.html)
  })
  server.get(contract.REPLAY_VIDEO, async (request, reply: FastifyReply) => {
    request.route = contract.REPLAY_VIDEO
    const { token, replayId } = asked(request)
    const { status, headers, body } = await replays.watch(token, replayId, request.headers.range)
    return reply
      .code(status ?? 200)
      .headers({ ...headers, 'referrer-policy': 'no-referrer' })
      .type('video/mp4')
      .send(body)
  })
}

async function pageOf(
  request: FastifyRequest,
  replays: ReplayService,
  pages: PlayerPages,
): Promise<{ status: number; page: ShownPage }> {
  const { token, replayId } = asked(request)
  try {
    const viewed = await replays.view(token, replayId)
    switch (viewed.state) {
      case 'ready':
        return { status: 200, page: await pages.player(viewed.played) }
      case 'failed':
        return { status: 404, page: await pages.message(noVideo) }
      case 'recording':
      case 'finishing':
        return { status: 200, page: await pages.message(notYet[viewed.state]) }
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    return { status: error.status, page: await pages.message(error.status === 401 ? wrongLink : gone) }
  }
}

const notYet = {
  recording: {
    title: 'Recording',
    text: 'The session is still being recorded. The video appears here when the recording has ended.',
    refreshSeconds: REFRESH_SECONDS,
  },
  finishing: {
    title: 'One moment',
    text: 'The video is being prepared.',
    refreshSeconds: REFRESH_SECONDS,
  },
}
const noVideo = { title: 'No video', text: 'The recording was cut off before its first picture.' }
const wrongLink = { title: 'This link is not valid', text: 'Get a new link from the API.' }
const gone = { title: 'No such replay', text: 'It was deleted, or this link belongs to another replay.' }

function asked({ query }: FastifyRequest): { token: string; replayId: string } {
  const { jwt, replay_id } = query as Record<string, unknown>
  // A repeated parameter is an array, which counts as missing.
  return {
    token: typeof jwt === 'string' ? jwt : '',
    replayId: typeof replay_id === 'string' ? replay_id : '',
  }
}
