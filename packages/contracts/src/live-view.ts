import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, OneOf, Open, Timestamp } from './schema.ts'

export const liveViewModes = ['read_only', 'control'] as const
export type LiveViewMode = (typeof liveViewModes)[number]

const DEFAULT_SECONDS = 3600

export const LiveViewLink = Type.Object(
  {
    url: Type.String({ description: 'Page that shows the session. Anyone with this URL can open it' }),
    expires_at: Timestamp('When the link expires; open views are closed too'),
    mode: OneOf(liveViewModes, { description: 'What the link allows' }),
  },
  { title: 'LiveViewLink' },
)
export type LiveViewLink = Static<typeof LiveViewLink>

export const createLiveViewLink = operation({
  id: 'createLiveViewLink',
  tag: 'Browsers',
  summary: 'Create a temporary live view link; also works for headless sessions',
  description:
    'The server rejects all input through a `read_only` link. A link works until it expires or its session ends.',
  method: 'POST',
  path: '/browsers/{id}/live_view_links',
  params: Type.Object({ id: idOrName('browser session') }),
  body: Open({
    mode: Type.Optional(
      OneOf(liveViewModes, {
        description: '`read_only`: watch. `control`: watch and use mouse and keyboard',
        default: 'read_only',
      }),
    ),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 604_800,
        default: DEFAULT_SECONDS,
        description: 'Seconds until the link expires',
      }),
    ),
  }),
  bodyOptional: true,
  effect: 'act',
  status: 201,
  response: LiveViewLink,
  errors: ['bad_request', 'not_found'],
})
