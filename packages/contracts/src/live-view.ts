import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, OneOf, Strict, Timestamp } from './schema.ts'

export const liveViewModes = ['read_only', 'control'] as const
export type LiveViewMode = (typeof liveViewModes)[number]

const DEFAULT_SECONDS = 3600

export const LiveViewLink = Type.Object(
  {
    url: Type.String({ description: 'Page that shows the session; whoever has it may use it' }),
    expires_at: Timestamp('When it stops working, also for who is watching then'),
    mode: OneOf(liveViewModes, { description: 'What it allows' }),
  },
  { title: 'LiveViewLink' },
)
export type LiveViewLink = Static<typeof LiveViewLink>

export const createLiveViewLink = operation({
  id: 'createLiveViewLink',
  tag: 'Browsers',
  summary: 'Create a link to the live view of a session, for a while; for headless sessions, too',
  description:
    'Of a `read_only` link the server takes no input, whatever the page does. A link ends with its time or with its session, whichever is first.',
  method: 'POST',
  path: '/browsers/{id}/live_view_links',
  params: Type.Object({ id: idOrName('browser session') }),
  body: Strict({
    mode: Type.Optional(
      OneOf(liveViewModes, { description: 'Watch only, or use it, too', default: 'read_only' }),
    ),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 604_800,
        default: DEFAULT_SECONDS,
        description: 'Seconds for which it works',
      }),
    ),
  }),
  bodyOptional: true,
  effect: 'act',
  status: 201,
  response: LiveViewLink,
  errors: ['bad_request', 'not_found'],
})
