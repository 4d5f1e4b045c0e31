// Small pictures of sessions, for pages that show many of them. One stream for all of them: fifty requests a second would
// cost more than the pictures, and browsers open only six connections to a host.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { OneOf, PRINTABLE } from './schema.ts'

export const PREVIEW_WIDTH = { min: 64, max: 640, default: 320 } as const
export const MAX_PREVIEWS = 100
/** Of one picture. */
export const MAX_PREVIEW_BYTES = 256 * 1024

export const previewStates = ['picture', 'standby', 'hidden', 'unavailable', 'ended'] as const
export type PreviewState = (typeof previewStates)[number]

export const PreviewEvent = Type.Object(
  {
    id: Type.String({ description: 'The session, as `ids` names it' }),
    state: OneOf(previewStates, {
      description:
        '`picture`: `data` is what the session shows. `standby`: nobody uses the session, so it is frozen and shows what it showed last. `hidden`: a login has used a secret in it. `unavailable`: there is nothing to see at the moment, for example while it starts; it is tried again. `ended`: it has ended, does not exist, or is not one this key may see; nothing more comes of it',
    }),
    etag: Type.Optional(Type.String({ description: 'For `picture`: equal for equal pictures' })),
    data: Type.Optional(Type.String({ description: 'For `picture`: a JPEG in base64' })),
  },
  { title: 'PreviewEvent' },
)
export type PreviewEvent = Static<typeof PreviewEvent>

export const followPreviews = operation({
  id: 'followPreviews',
  tag: 'Browsers',
  summary: 'Extension: Follow small pictures of several sessions',
  description:
    'For pages that show many sessions. Each event is the state of one session, sent first for all of them and then when it changes, at most once a second for a session. ' +
    'Watching is not use: it neither wakes a session from standby nor delays its standby or timeout. The stream ends when all sessions have ended.',
  method: 'GET',
  path: '/previews',
  kind: 'events',
  contentType: 'text/event-stream',
  query: Type.Object({
    ids: Type.String({
      pattern: PRINTABLE,
      minLength: 1,
      maxLength: 8_000,
      examples: ['my-session'],
      description: `Ids or names of sessions, at most ${MAX_PREVIEWS}, separated by commas. For a session whose name has a comma, give its id`,
    }),
    width: Type.Optional(
      Type.Integer({
        minimum: PREVIEW_WIDTH.min,
        maximum: PREVIEW_WIDTH.max,
        default: PREVIEW_WIDTH.default,
        description: 'Width of the pictures in pixels. A screen that is narrower is not enlarged',
      }),
    ),
  }),
  status: 200,
  response: PreviewEvent,
  errors: ['bad_request', 'too_many_requests'],
})
