// Logs of an instance: files, and the output of Berth's own programs in it.
import { Type } from 'typebox'
import { absolutePath, control } from './control.ts'
import { OneOf, Text, Timestamp } from './schema.ts'

/** Berth's programs in the instance, whose stderr is the log. */
export const serviceLogNames = ['chromium', 'agent', 'display'] as const
export type ServiceLogName = (typeof serviceLogNames)[number]

/** In bytes. Longer lines are cut and end with a note that says so. */
export const MAX_LOG_LINE_LENGTH = 64 * 1024

export const streamLogs = control({
  id: 'streamLogs',
  referenceIds: ['logsStream'],
  tag: 'Logs',
  summary: 'Read or follow a log',
  description:
    'With `follow`, the stream starts at the end of the log and sends new lines, across rotation and truncation, until ' +
    'the client disconnects or the session ends. Without `follow`, it sends the log from its start and then ends. ' +
    'Returns 404 if the file does not exist. ' +
    `Lines longer than ${MAX_LOG_LINE_LENGTH / 1024} KiB are cut.`,
  method: 'GET',
  at: '/logs/stream',
  kind: 'events',
  contentType: 'text/event-stream',
  query: Type.Object({
    source: OneOf(['path', 'supervisor'] as const, {
      description: '`path`: a file. `supervisor`: one of the programs that Berth runs in the instance',
    }),
    follow: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether to send new lines, instead of the existing ones' }),
    ),
    path: Type.Optional(absolutePath('Path of the file; for source `path`')),
    supervisor_process: Type.Optional(
      Text({
        description: `Name of the program, for source \`supervisor\`: ${serviceLogNames.join(', ')}. For any other name the stream has one line that says so, and ends`,
        maxLength: 255,
      }),
    ),
  }),
  status: 200,
  response: Type.Object(
    {
      event: OneOf(['log'] as const, { description: 'Always `log`' }),
      timestamp: Timestamp('When the line was written or, for a file, read'),
      message: Type.String({ description: 'The line' }),
    },
    { title: 'LogEvent' },
  ),
})
