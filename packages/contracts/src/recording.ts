// How a recording travels from the agent to the server: as records, which the server takes in order and
// acknowledges by asking for the next. What was not acknowledged the agent keeps, within a bound, so a
// server that was killed and comes back misses nothing.
//
//   POST /recordings                 204, RecordingStart
//   GET  /recordings/{id}?after=N    200, records after number N: at once if there are enough of them, a moment
//                                    after the first, or none after 10 s; 404 for one that is not there
//   POST /recordings/{id}/stop       204; the last record is then an end
//   DELETE /recordings/{id}          204; forgets it
//
// A record is a frame (codecs/frames.ts) whose payload begins with its number, from 1 on, and its time in
// milliseconds from the beginning, 32 bits each. After them:
//
//   config   width and height, 16 bits each, and an AVCDecoderConfigurationRecord (ISO 14496-15)
//   sample   a byte that is 1 for a key frame, and an access unit whose NAL units have lengths of 32 bits
//   marker   JSON: RecordingMarker
//   time     nothing: so long it has been going on
//   gap      32 bits: for so many milliseconds the picture stood still, as nobody took what was there
//   end      text: why, one of recordingEnds

export const recordKinds = { config: 1, sample: 2, marker: 3, time: 4, gap: 5, end: 6 } as const
export const RECORD_HEAD_BYTES = 8

export const recordingEnds = ['stopped', 'max_duration', 'failed'] as const
export type RecordingEnd = (typeof recordingEnds)[number]

export interface RecordingStart {
  readonly id: string
  readonly framerate: number
  /** Null: until it is stopped. */
  readonly maxMs: number | null
}

/** navigation: a page is somewhere else. crash: a page or Chromium as a whole. */
export const markerKinds = ['navigation', 'crash'] as const
export interface RecordingMarker {
  readonly kind: (typeof markerKinds)[number]
  readonly text: string
}

export const MAX_MARKER_CHARACTERS = 200
/** A key frame of the largest screen, full of noise. */
export const MAX_RECORD_BYTES = 32 * 1024 * 1024
/** One answer has no more than that, unless a single record has. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** Kept by the agent for a server that is away; beyond it no picture is taken. */
export const MAX_KEPT_BYTES = 16 * 1024 * 1024
export const RECORDS_WAIT_MS = 10_000
/** At once in one session; each is an encoder of its own. */
export const MAX_RECORDINGS = 4
