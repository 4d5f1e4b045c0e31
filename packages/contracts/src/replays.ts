// Recordings of what a session shows, as video.
import { Type, type Static, type TObject } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, Strict, Timestamp } from './schema.ts'

const tag = 'Replays'

/** Without a GPU, as the reference has it. */
export const MAX_FRAMERATE_WITHOUT_GPU = 20
export const DEFAULT_FRAMERATE = 10

const startFields = {
  framerate: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 60,
      description:
        'Most pictures a second, 10 when omitted; above 20 the session needs a GPU. A screen that does not change gives none',
    }),
  ),
  max_duration_in_seconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_592_000, description: 'The recording stops by itself after it' }),
  ),
  record_audio: Type.Optional(Type.Boolean({ description: 'Sound; sessions have none, so true is refused' })),
}

export const StartReplayRequest = Strict(startFields)
export type StartReplayRequest = Static<typeof StartReplayRequest>

/** At the creation of a session. Two types at once rather than a union, as for Nullable in schema.ts. */
export const RecordRequest = Type.Unsafe<boolean | StartReplayRequest>({
  ...Strict(startFields),
  type: ['boolean', 'object'],
  description: 'Extension: records the session from its beginning; true, or how',
})

export const replayEnds = [
  'stopped',
  'max_duration',
  'size_limit',
  'resized',
  'session_ended',
  'interrupted',
  'failed',
] as const
export type ReplayEnd = (typeof replayEnds)[number]

export const Replay = Type.Object(
  {
    replay_id: Type.String({ description: 'Unique id of the recording' }),
    started_at: Type.Optional(Nullable(Timestamp('When it began'))),
    finished_at: Type.Optional(Nullable(Timestamp('When it ended; null while it is being made'))),
    replay_view_url: Type.Optional(
      Type.String({ description: 'A page with a player, with its own token; can be put into an iframe' }),
    ),
    framerate: Type.Optional(Type.Integer({ description: 'Extension: most pictures a second' })),
    duration_ms: Type.Optional(
      Type.Integer({ description: 'Extension: length of the video, once it is there' }),
    ),
    size_bytes: Type.Optional(
      Type.Integer({ description: 'Extension: size of the video, once it is there' }),
    ),
    end_reason: Type.Optional(OneOf(replayEnds, { description: 'Extension: why it ended' })),
    lost_ms: Type.Optional(
      Type.Integer({ description: 'Extension: for how long the picture stood still because nobody took it' }),
    ),
    continues: Type.Optional(
      Type.String({
        description: 'Extension: id of the recording that this one goes on from, after a resize',
      }),
    ),
  },
  { title: 'Replay' },
)
export type Replay = Static<typeof Replay>

const ofSession = { id: idOrName('browser session') }
const replayId = Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', description: 'Id of the recording' })
const ofReplay = { ...ofSession, replay_id: replayId }

/** Served below /browsers/{id} by key, and below base_url by the token of the session. */
const at = <const P extends `/${string}`, T extends TObject>(path: P, params: T) => ({
  tag,
  path: `/browsers/{id}${path}` as const,
  sessionPath: path,
  params,
})

export const startReplay = operation({
  ...at('/replays', Type.Object(ofSession)),
  id: 'startReplay',
  summary: 'Start recording a session',
  method: 'POST',
  body: StartReplayRequest,
  bodyOptional: true,
  effect: 'act',
  status: 201,
  response: Replay,
  errors: ['not_found', 'conflict', 'insufficient_storage'],
})

export const listReplays = operation({
  ...at('/replays', Type.Object(ofSession)),
  id: 'listReplays',
  summary: 'List the recordings of a session, also of one that has ended',
  method: 'GET',
  status: 200,
  response: Type.Array(Replay),
  errors: ['not_found'],
})

export const downloadReplay = operation({
  ...at('/replays/{replay_id}', Type.Object(ofReplay)),
  id: 'downloadReplay',
  summary: 'Download a recording as MP4',
  description:
    'Answers 202 with Retry-After while it is being recorded or put together. Ranges are served (206, 416).',
  method: 'GET',
  kind: 'binary',
  contentType: 'video/mp4',
  status: 200,
  alsoAnswers: {
    202: 'It is not ready yet, and the body is empty; Retry-After says when to ask again',
    206: 'The range that was asked for',
  },
  errors: ['not_found', 'range_not_satisfiable', 'invalid_state'],
})

export const stopReplay = operation({
  ...at('/replays/{replay_id}/stop', Type.Object(ofReplay)),
  id: 'stopReplay',
  summary: 'Stop a recording and keep the video; stopping it again changes nothing',
  method: 'POST',
  kind: 'empty',
  effect: 'act',
  status: 200,
  errors: ['not_found'],
})

/** A page for people, and the video in it: not operations, as their token is in the URL. */
export const REPLAY_PAGE = '/browser/replays'
export const REPLAY_VIDEO = '/browser/replays/video'
/** What the token in them must be good for; it names the recording and no session. */
export const REPLAY_AUDIENCE = 'replay'
