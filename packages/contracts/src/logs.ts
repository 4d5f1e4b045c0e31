// What programs of an instance log: files, and the service's own programs in it.
import { Type } from 'typebox'
import { absolutePath, control } from './control.ts'
import { OneOf, Timestamp } from './schema.ts'

/** Of the instance itself: what each writes to its stderr. */
export const serviceLogNames = ['chromium', 'agent', 'display'] as const
export type ServiceLogName = (typeof serviceLogNames)[number]

/** In bytes; what is longer ends with a mark that tells so. */
export const MAX_LOG_LINE_LENGTH = 64 * 1024

export const streamLogs = control({
  id: 'streamLogs',
  tag: 'Logs',
  summary: 'Read or follow a log',
  description:
    'With `follow` it begins at the end: what is written from now on is sent, through rotation and truncation, until ' +
    'the reader leaves or the session ends. Without, it is sent from its beginning, and the stream ends ' +
    'with it. A file that is not there is 404. ' +
    `Lines longer than ${MAX_LOG_LINE_LENGTH / 1024} KiB are cut.`,
  method: 'GET',
  at: '/logs/stream',
  kind: 'events',
  contentType: 'text/event-stream',
  query: Type.Object({
    source: OneOf(['path', 'supervisor'] as const, {
      description: '`path`: a file. `supervisor`: a program of the instance itself',
    }),
    follow: Type.Optional(
      Type.Boolean({ default: true, description: 'Begin at the end and go on, or read what is there' }),
    ),
    path: Type.Optional(absolutePath('Of the file, for `path`')),
    supervisor_process: Type.Optional(OneOf(serviceLogNames, { description: 'Which, for `supervisor`' })),
  }),
  status: 200,
  response: Type.Object(
    {
      event: OneOf(['log'] as const, { description: 'Always `log`' }),
      timestamp: Timestamp('When the line was written or, in a file, read'),
      message: Type.String({ description: 'The line' }),
    },
    { title: 'LogEvent' },
  ),
})
