// How the agent sends a recording to the server: as numbered records. The server fetches them in order and acknowledges
// them by requesting the next ones. The agent keeps unacknowledged records, up to a limit, so a restarted server misses
// nothing.
//
//   POST /recordings                 204 with the first picture, or when it is late; RecordingStart
//   GET  /recordings/{id}?after=N    200, records after number N: at once if there are many, otherwise shortly after the
//                                    first, or empty after 10 s; 404 for an unknown recording
//   POST /recordings/{id}/stop       204; the recording then finishes with an `end` record
//   DELETE /recordings/{id}          204; deletes the recording from the agent
//
// A record is a frame (codecs/frames). Its payload starts with the record number, starting with 1, and the time since
// the start of the recording in milliseconds, 32 bits each. Then, by kind:
//
//   config   width and height, 16 bits each, and an AVCDecoderConfigurationRecord (ISO 14496-15)
//   sample   a byte that is 1 for a key frame, and an access unit whose NAL units have lengths of 32 bits
//   marker   JSON: RecordingMarker
//   time     nothing: only reports the elapsed time
//   gap      32 bits: the picture froze for this many milliseconds, because no server fetched records
//   end      text: the reason, one of recordingEnds
//   sound    a frame of AAC-LC (ISO 14496-3) without a head: SOUND_FRAME_SAMPLES samples of two channels at SOUND_RATE.
//            Where there is none, all is silent

import { Type, type Static } from 'typebox'
import { Nullable, Strict } from './schema.ts'

export const recordKinds = { config: 1, sample: 2, marker: 3, time: 4, gap: 5, end: 6, sound: 7 } as const
export const RECORD_HEAD_BYTES = 8

export const recordingEnds = ['stopped', 'max_duration', 'failed'] as const
export type RecordingEnd = (typeof recordingEnds)[number]

export const RecordingStart = Strict({
  id: Type.String({ minLength: 1, maxLength: 100 }),
  framerate: Type.Number({ minimum: 1, maximum: 60 }),
  /** Null to record until stopped. */
  maxMs: Nullable(Type.Number({ minimum: 1 })),
  /** Also what the session plays. */
  hasSound: Type.Optional(Type.Boolean()),
})
export type RecordingStart = Static<typeof RecordingStart>

/** navigation: a page has navigated. crash: a page or the whole Chromium has crashed. */
export const markerKinds = ['navigation', 'crash'] as const
export interface RecordingMarker {
  readonly kind: (typeof markerKinds)[number]
  readonly text: string
}

export const MAX_MARKER_CHARACTERS = 200
/** Enough for a key frame of the largest screen, full of noise. */
export const MAX_RECORD_BYTES = 32 * 1024 * 1024
/** Limit of one response, unless a single record is larger. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** The agent keeps this much for an absent server. Then it stops taking pictures. */
export const MAX_KEPT_BYTES = 16 * 1024 * 1024
export const RECORDS_WAIT_MS = 10_000

/** That of PulseAudio and Chromium, so that nobody converts. */
export const SOUND_RATE = 44_100
export const SOUND_CHANNELS = 2
export const SOUND_FRAME_SAMPLES = 1024
/** More than a frame of AAC can have: 6144 bits for each channel. */
export const MAX_SOUND_FRAME_BYTES = 2048
/** Concurrent recordings of one session. Each runs its own encoder. */
export const MAX_RECORDINGS = 4
