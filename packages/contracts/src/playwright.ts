// Runs code that controls the browser from inside its instance.
import { Type } from 'typebox'
import { control } from './control.ts'
import { Strict } from './schema.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))

const PlaywrightResult = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether the code ran without an error' }),
    result: Type.Optional(
      Type.Unknown({ description: 'Return value as JSON; null if the code returned nothing' }),
    ),
    error: text('Why the code failed'),
    stdout: text('Standard output, cut after 1 MiB'),
    stderr: text('Standard error and stack trace, cut after 1 MiB'),
  },
  { title: 'PlaywrightResult' },
)

export const executePlaywrightCode = control({
  id: 'executePlaywrightCode',
  tag: 'Code',
  summary: 'Run Playwright code in the instance',
  method: 'POST',
  at: '/playwright/execute',
  body: Strict({
    code: Type.String({
      minLength: 1,
      maxLength: 1_000_000,
      examples: ['return await page.title()'],
      description: 'TypeScript or JavaScript. Runs in an async function with `page`, `context` and `browser`',
    }),
    timeout_sec: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 300,
        default: 60,
        description: 'Time limit of the code in seconds',
      }),
    ),
  }),
  status: 200,
  response: PlaywrightResult,
  errors: ['too_many_requests', 'unavailable'],
})
