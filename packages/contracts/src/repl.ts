// A Node process in the instance that keeps its variables from one call to the next.
import { Type } from 'typebox'
import { control } from './control.ts'
import { OneOf, Strict } from './schema.ts'

export const MAX_REPL_TEXT_BYTES = 256 * 1024
export const MAX_REPL_IMAGES = 10
export const MAX_REPL_IMAGE_BYTES = 6 * 1024 * 1024

const KiB = 1024
const MiB = KiB * KiB

export const REPL_CHANNELS = ['stdout', 'stderr', 'result', 'display'] as const
export const REPL_IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

const ReplContent = Type.Object(
  {
    type: OneOf(['text', 'image'] as const, { description: 'Which of the other fields there are' }),
    channel: Type.Optional(
      OneOf(REPL_CHANNELS, {
        description:
          'Where a text comes from: what was printed, the value of the last expression, or a call of `display()`',
      }),
    ),
    text: Type.Optional(Type.String({ description: 'Of a text' })),
    mime_type: Type.Optional(OneOf(REPL_IMAGE_TYPES, { description: 'Of an image' })),
    data_b64: Type.Optional(Type.String({ description: 'Of an image: its bytes in base64' })),
  },
  { title: 'ReplContent' },
)

const ReplResult = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether the code ran without an error' }),
    repl_id: Type.String({
      description: 'Id of the process. A new one means that the variables of earlier calls are gone',
    }),
    content: Type.Optional(
      Type.Array(ReplContent, {
        description:
          `What the code showed, in order. Also what was printed between the calls. Texts end after ` +
          `${MAX_REPL_TEXT_BYTES / KiB} KiB, and images after ${MAX_REPL_IMAGES} or ${MAX_REPL_IMAGE_BYTES / MiB} MiB`,
      }),
    ),
    content_truncated: Type.Optional(Type.Boolean({ description: 'Whether some of it was left out' })),
    duration_ms: Type.Integer({ minimum: 0, description: 'How long the code ran' }),
    error: Type.Optional(Type.String({ description: 'Why the code failed' })),
    stack: Type.Optional(Type.String({ description: 'Where it failed' })),
    repl_terminated: Type.Optional(
      Type.Boolean({
        description:
          'Whether the process has ended, because of the time limit or of the code; the next is new',
      }),
    ),
  },
  { title: 'ReplResult' },
)

export const executeRepl = control({
  id: 'executeRepl',
  tag: 'Code',
  summary: 'Run code in the Node process of the session',
  description:
    'The process starts with the first call and ends with the session. Variables, functions and imported modules stay ' +
    'for the next calls. Calls run one after another. The code of a caller that disconnects is stopped, and with it ' +
    'the process.',
  method: 'POST',
  at: '/repl',
  body: Strict({
    code: Type.String({
      maxLength: 1_000_000,
      examples: ['await page.title()'],
      description:
        'TypeScript or JavaScript, with `await` anywhere. `page`, `context` and `browser` are those of Playwright; ' +
        '`page` is the tab that was used last when the process started. `display(value)` shows a value or an image; ' +
        'so does the last expression',
    }),
    reset: Type.Optional(
      Type.Boolean({ default: false, description: 'End the process first, and run the code in a new one' }),
    ),
    timeout_sec: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 300,
        default: 60,
        description: 'Time limit of the code in seconds. When it is reached, the process ends',
      }),
    ),
  }),
  status: 200,
  response: ReplResult,
  errors: ['too_many_requests', 'unavailable'],
})
