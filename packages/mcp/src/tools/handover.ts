// A person takes over for what an agent cannot or must not do, and says when they are done.
import { Type } from 'typebox'
import {
  createHandover,
  finishHandover,
  getHandover,
  MAX_HANDOVER_TEXT,
  MAX_HANDOVER_WAIT_SECONDS,
  type Handover,
} from '@berth/contracts/handovers'
import { data, facts, type Answer } from '../core/answer.ts'
import { ToolFailure } from '../core/run.ts'
import { visible } from '../core/text.ts'
import { tool, type Args, type Context, type Tool } from '../core/tool.ts'
import { sessionId } from '../page/fields.ts'
import { given } from './paging.ts'

/** Most clients give a call up after a minute, unless it reports progress. */
const USUAL_WAIT_SECONDS = 50
const MAX_WAIT_SECONDS = 600
/** Between two reports, so that clients and proxies know that the call lives. */
const REPORT_SECONDS = 5

async function wait(first: Handover, args: Args, context: Context, seconds: number): Promise<Handover> {
  const { api, progress } = context
  const params = { id: args.session_id as string, handover_id: first.id }
  const deadline = performance.now() + seconds * 1000
  let handover = first
  for (;;) {
    const left = Math.ceil((deadline - performance.now()) / 1000)
    if (handover.state !== 'waiting' || left <= 0) return handover
    await progress(
      first.url === undefined ? 'The person is not done yet' : `Waiting for the person at ${first.url}`,
    )
    const waitSeconds = Math.min(left, REPORT_SECONDS, MAX_HANDOVER_WAIT_SECONDS)
    handover = await api.call(getHandover, { params, query: { wait_seconds: waitSeconds } })
  }
}

const meanings: Readonly<Record<string, string>> = {
  waiting: 'The person is not done yet',
  done: 'The person says that they are done: go on, and look at the page first, because it has changed',
  declined: 'The person cannot do this: find another way, or ask the user',
  cancelled: 'The handover was cancelled',
  expired: 'The person did not come in time: ask the user, then hand over again',
  session_ended: 'The session has ended: create a new one',
}

function shown(
  { id, session_id: session, state, note, expires_at }: Handover,
  url: string | undefined,
): Answer {
  const isWaiting = state === 'waiting'
  const next = [
    ...(url !== undefined && isWaiting ? ['Show the url to the person now'] : []),
    ...(isWaiting
      ? [
          `Then call hand_over_to_human with session_id "${session}" and handover_id "${id}", which waits until they are done`,
        ]
      : []),
  ]
  const about = facts({
    handover_id: id,
    session_id: session,
    state,
    meaning: meanings[state],
    ...given({ url }),
    ...(isWaiting && { expires_at, next_actions: next }),
  })
  return note === null ? [about] : [about, data(visible(note), 'the person at the link')]
}

export const handOverToHuman: Tool = tool({
  name: 'hand_over_to_human',
  title: 'Hand over to a person',
  toolset: 'handover',
  description:
    'Asks a person to do something in the session, such as a login, a captcha or a payment. Returns a link; show it to the person. They see the browser, use it, and click "Done". Call again with handover_id to wait for that. With cancel true you no longer wait.',
  input: {
    session_id: sessionId,
    message: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_HANDOVER_TEXT,
        description: 'What the person should do, in their language. They read it beside the browser',
      }),
    ),
    handover_id: Type.Optional(
      Type.String({ pattern: '^[a-z0-9]{1,64}$', description: 'Of an earlier call: wait for it' }),
    ),
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_WAIT_SECONDS,
        description: `How long to wait in this call: by default 0 for a new handover, so that you can show the link, and ${USUAL_WAIT_SECONDS} with handover_id`,
      }),
    ),
    expires_in_seconds: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 86_400, default: 3_600, description: 'How long the link works' }),
    ),
    cancel: Type.Optional(Type.Boolean({ default: false, description: 'With handover_id: no longer wait' })),
  },
  needs: [createHandover, getHandover, finishHandover],
  run: async (args: Args, context) => {
    const { api } = context
    const id = args.session_id as string
    if (args.handover_id === undefined) {
      if (args.message === undefined) {
        throw new ToolFailure(
          'Cannot hand over: give "message", what the person should do, or "handover_id" to wait for an earlier one [code: bad_request]',
        )
      }
      const created = await api.call(createHandover, {
        params: { id },
        body: given({ message: args.message, expires_in_seconds: args.expires_in_seconds }),
      })
      await context.progress(`The person can take over at ${created.url}`)
      return shown(await wait(created, args, context, args.wait_seconds ?? 0), created.url)
    }
    const params = { id, handover_id: args.handover_id as string }
    if (args.cancel) {
      return shown(await api.call(finishHandover, { params, body: { outcome: 'cancelled' } }), undefined)
    }
    const known = await api.call(getHandover, { params })
    return shown(await wait(known, args, context, args.wait_seconds ?? USUAL_WAIT_SECONDS), undefined)
  },
})
