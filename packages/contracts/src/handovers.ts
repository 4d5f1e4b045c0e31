// An agent hands its session over to a person, and waits until the person says that they are done.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, Open, Text, Timestamp } from './schema.ts'

const tag = 'Browsers'
const DEFAULT_SECONDS = 3600
/** Below 60 s, when published clients give up waiting for an answer and repeat the request. */
export const MAX_HANDOVER_WAIT_SECONDS = 50
export const MAX_HANDOVER_TEXT = 2_000

/** What a person or the caller can say at the end. */
export const handoverOutcomes = ['done', 'declined', 'cancelled'] as const
export type HandoverOutcome = (typeof handoverOutcomes)[number]
/** What is stored. */
export type HandoverRowState = 'waiting' | HandoverOutcome
export const handoverStates = ['waiting', ...handoverOutcomes, 'expired', 'session_ended'] as const
export type HandoverState = (typeof handoverStates)[number]

/** Texts with line breaks, such as a list of steps. */
const Words = (description: string) =>
  Type.String({
    pattern: '^(?=[\\s\\S]*\\S)[^\\p{Cs}\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]*$',
    minLength: 1,
    maxLength: MAX_HANDOVER_TEXT,
    description,
  })

export const Handover = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    session_id: Type.String({ description: 'The session that is handed over' }),
    state: OneOf(handoverStates, {
      description:
        '`waiting`: nobody has said anything yet. `done`, `declined`: what the person said. `cancelled`: the caller no longer wants it. `expired`, `session_ended`: nothing was said in time',
    }),
    message: Type.String({ description: 'What the person is asked to do' }),
    note: Nullable(Type.String({ description: 'What the person wrote; null without a note' })),
    url: Type.Optional(
      Type.String({
        description:
          'Live view page with the request, a button "Done" and a button "I cannot do this". Anyone with this URL can use the session. Only in the answer that creates it',
      }),
    ),
    created_at: Timestamp('When it was created'),
    expires_at: Timestamp('When the URL stops working'),
    finished_at: Nullable(Timestamp('When it ended; null while it waits')),
  },
  { title: 'Handover' },
)
export type Handover = Static<typeof Handover>

const ofSession = { id: idOrName('browser session') }
const ofHandover = {
  ...ofSession,
  handover_id: Text({ description: 'Id of the handover', minLength: 1, maxLength: 64 }),
}

export const createHandover = operation({
  id: 'createHandover',
  tag,
  summary: 'Extension: Hand a session over to a person',
  description:
    'Returns a live view link that shows the person what to do and lets them say when they are done. Read the handover with `wait_seconds` to learn it.',
  method: 'POST',
  path: '/browsers/{id}/handovers',
  params: Type.Object(ofSession),
  body: Open({
    message: Words('What the person should do, for example "Log in, then click Done"'),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 86_400,
        default: DEFAULT_SECONDS,
        description: 'Seconds until the link expires',
      }),
    ),
  }),
  effect: 'act',
  status: 201,
  response: Handover,
  errors: ['bad_request', 'not_found', 'too_many_requests'],
})

export const getHandover = operation({
  id: 'getHandover',
  tag,
  summary: 'Extension: Read a handover, or wait for its end',
  method: 'GET',
  path: '/browsers/{id}/handovers/{handover_id}',
  params: Type.Object(ofHandover),
  query: Type.Object({
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_HANDOVER_WAIT_SECONDS,
        default: 0,
        description:
          'Answer when it is over, or after so many seconds. The session stays awake and does not time out meanwhile',
      }),
    ),
  }),
  status: 200,
  response: Handover,
  errors: ['bad_request', 'not_found'],
})

export const finishHandover = operation({
  id: 'finishHandover',
  tag,
  summary: 'Extension: Say that a handover is over',
  description:
    'For people who use the session elsewhere, such as in the dashboard, and for callers that no longer wait. The first answer counts; later ones change nothing.',
  method: 'POST',
  path: '/browsers/{id}/handovers/{handover_id}/finish',
  params: Type.Object(ofHandover),
  body: Open({
    outcome: OneOf(handoverOutcomes, { description: 'How it ended' }),
    note: Type.Optional(Words('A message to the agent that waits')),
  }),
  status: 200,
  response: Handover,
  errors: ['bad_request', 'not_found'],
})
