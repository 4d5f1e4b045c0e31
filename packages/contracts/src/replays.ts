// Video recordings of a session's screen.
import { Type, type Static, type TObject } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, Open, Timestamp } from './schema.ts'

const tag = 'Replays'

/** The same limit as the hosted service. */
export const MAX_FRAMERATE_WITHOUT_GPU = 20
export const DEFAULT_FRAMERATE = 10

const startFields = {
  framerate: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 60,
      description:
        'Maximum frames per second, 10 when omitted. More than 20 requires a session with a GPU. An unchanged screen produces no frames',
    }),
  ),
  max_duration_in_seconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_592_000, description: 'Seconds after which the recording stops' }),
  ),
  record_audio: Type.Optional(
    Type.Boolean({
      description: 'Also record what the session plays, as AAC in the same MP4. False when omitted',
    }),
  ),
}

export const StartReplayRequest = Open(startFields)
export type StartReplayRequest = Static<typeof StartReplayRequest>

/** For the creation of a session. Uses two types instead of a union, like Nullable in schema.ts. */
export const RecordRequest = Type.Unsafe<boolean | StartReplayRequest>({
  ...Open(startFields),
  type: ['boolean', 'object'],
  description: 'Extension: record the session from its start. True, or an object with options',
})

export const replayEnds = [
  'stopped',
  'max_duration',
  'size_limit',
  'storage_limit',
  'resized',
  'session_ended',
  'interrupted',
  'failed',
] as const
export type ReplayEnd = (typeof replayEnds)[number]

export const Replay = Type.Object(
  {
    replay_id: Type.String({ description: 'Unique id of the recording' }),
    started_at: Type.Optional(Nullable(Timestamp('When the recording started'))),
    finished_at: Type.Optional(Nullable(Timestamp('When the recording ended. Null while it runs'))),
    replay_view_url: Type.Optional(
      Type.String({
        description: 'Web page with a video player; contains its own token and can be embedded in an iframe',
      }),
    ),
    framerate: Type.Optional(Type.Integer({ description: 'Extension: maximum frames per second' })),
    duration_ms: Type.Optional(Type.Integer({ description: 'Extension: length of the finished video' })),
    size_bytes: Type.Optional(Type.Integer({ description: 'Extension: size of the finished video' })),
    end_reason: Type.Optional(OneOf(replayEnds, { description: 'Extension: why the recording ended' })),
    lost_ms: Type.Optional(
      Type.Integer({
        description: 'Extension: how long the picture froze because no server was available to store it',
      }),
    ),
    continues: Type.Optional(
      Type.String({
        description: 'Extension: id of the recording that this one continues after a resize',
      }),
    ),
  },
  { title: 'Replay' },
)
export type Replay = Static<typeof Replay>

const ofSession = { id: idOrName('browser session') }
const replayId = Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', description: 'Id of the recording' })
const ofReplay = { ...ofSession, replay_id: replayId }

/** Served below /browsers/{id} for API keys, and below base_url for the session's token. */
const at = <const P extends `/${string}`, T extends TObject>(path: P, params: T) => ({
  tag,
  path: `/browsers/{id}${path}` as const,
  sessionPath: path,
  params,
})

export const startReplay = operation({
  ...at('/replays', Type.Object(ofSession)),
  id: 'startReplay',
  referenceIds: ['startBrowserReplayRecording'],
  summary: 'Start recording a session',
  method: 'POST',
  body: StartReplayRequest,
  bodyOptional: true,
  effect: 'act',
  status: 201,
  response: Replay,
  errors: ['not_found', 'conflict', 'storage_full', 'insufficient_storage'],
})

export const listReplays = operation({
  ...at('/replays', Type.Object(ofSession)),
  id: 'listReplays',
  referenceIds: ['listBrowsersReplays'],
  summary: 'List the recordings of an active or ended session',
  method: 'GET',
  status: 200,
  response: Type.Array(Replay),
  errors: ['not_found'],
})

export const downloadReplay = operation({
  ...at('/replays/{replay_id}', Type.Object(ofReplay)),
  id: 'downloadReplay',
  referenceIds: ['getBrowsersReplaysById'],
  summary: 'Download a recording as MP4',
  description:
    'Returns 202 with Retry-After while the recording runs or the video is being prepared. Supports Range requests.',
  method: 'GET',
  kind: 'binary',
  contentType: 'video/mp4',
  headers: Type.Object({
    Range: Type.Optional(
      Type.String({ examples: ['bytes=0-1048575'], description: 'One range of bytes to download' }),
    ),
  }),
  status: 200,
  alsoAnswers: {
    202: 'The video is not ready and the body is empty; try again after the time in Retry-After',
    206: 'The requested range',
  },
  errors: ['not_found', 'range_not_satisfiable', 'invalid_state'],
})

export const stopReplay = operation({
  ...at('/replays/{replay_id}/stop', Type.Object(ofReplay)),
  id: 'stopReplay',
  referenceIds: ['stopBrowserReplayRecording'],
  summary: 'Stop a recording and keep the video; does nothing if it is already stopped',
  method: 'POST',
  kind: 'empty',
  effect: 'act',
  status: 200,
  errors: ['not_found'],
})

/** The player page and its video. They are not operations, because their token is in the URL. */
export const REPLAY_PAGE = '/browser/replays'
export const REPLAY_VIDEO = '/browser/replays/video'
/** Audience of the token in these URLs. The token names a recording, not a session. */
export const REPLAY_AUDIENCE = 'replay'
