// Runs code that controls the browser from inside its instance.
import { Type } from 'typebox'
import { control } from './control.ts'
import {
  DEFAULT_EXECUTOR,
  executorName,
  MAX_NAMED_EXECUTORS,
  PlaywrightExecutor,
  targetId,
} from './playwright-executor.ts'
import { Strict } from './schema.ts'

const tag = 'Code'

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
    tab: Type.Optional(
      Type.Object(
        {
          target_id: targetId("The tab that `page` was, as CDP's target id"),
          created: Type.Boolean({
            description:
              'Whether the tab was opened for this call: the first of its executor, or after its tab was closed or ' +
              'Chromium was restarted',
          }),
        },
        {
          title: 'PlaywrightTab',
          description: 'Absent if the code was stopped before the tab was known',
        },
      ),
    ),
  },
  { title: 'PlaywrightResult' },
)

export const executePlaywrightCode = control({
  id: 'executePlaywrightCode',
  tag,
  summary: 'Run Playwright code in the instance',
  description:
    'Calls with the same `executor` run one after another; those of different executors run side by side. ' +
    `A session has the executor \`${DEFAULT_EXECUTOR}\` and at most ${MAX_NAMED_EXECUTORS} named ones; a call that ` +
    'needs one more is answered with 409, whose `executors` lists them.',
  method: 'POST',
  at: '/playwright/execute',
  body: Strict({
    code: Type.String({
      minLength: 1,
      maxLength: 1_000_000,
      examples: ['return await page.title()'],
      description: 'TypeScript or JavaScript. Runs in an async function with `page`, `context` and `browser`',
    }),
    executor: Type.Optional(
      executorName(
        `Name of the executor, which is made when it is first used. It has its own process and its own tab, which ` +
          `\`page\` is. Without it, or with \`${DEFAULT_EXECUTOR}\`, \`page\` is the tab that was used last and that ` +
          `no named executor has opened`,
      ),
    ),
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

export const listPlaywrightExecutors = control({
  id: 'listPlaywrightExecutors',
  tag,
  summary: 'List the executors of Playwright code',
  description: `Those that have been used and not deleted: \`${DEFAULT_EXECUTOR}\` first, then by name.`,
  method: 'GET',
  at: '/playwright/executors',
  status: 200,
  response: Type.Object(
    {
      executors: Type.Array(PlaywrightExecutor, {
        maxItems: MAX_NAMED_EXECUTORS + 1,
        description: 'In the order in which they were made',
      }),
    },
    { title: 'PlaywrightExecutors' },
  ),
  errors: ['unavailable'],
})

export const deletePlaywrightExecutor = control({
  id: 'deletePlaywrightExecutor',
  tag,
  summary: 'End an executor of Playwright code',
  description: 'Stops the code that it runs, and what its code left behind in its process.',
  method: 'DELETE',
  at: '/playwright/executors/{name}',
  params: { name: executorName('Name of the executor') },
  query: Type.Object({
    close_tab: Type.Optional(
      Type.Boolean({ default: false, description: 'Close its tab, too. Otherwise the tab stays open' }),
    ),
  }),
  kind: 'empty',
  status: 204,
  errors: ['unavailable'],
})
