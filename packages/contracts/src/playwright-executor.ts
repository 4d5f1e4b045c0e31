// What lists and errors say about an executor of Playwright code.
import { Type, type Static } from 'typebox'
import { Timestamp } from './schema.ts'

/** The executor of calls that name none. */
export const DEFAULT_EXECUTOR = 'default'

/** Besides the default one. */
export const MAX_NAMED_EXECUTORS = 8

export const executorName = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
    minLength: 1,
    maxLength: 64,
    examples: ['checkout'],
    description: `${description}. Letters, digits, \`.\`, \`_\` and \`-\`, beginning with a letter or digit; at most 64`,
  })

export const targetId = (description: string) => Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$', description })

export const PlaywrightExecutor = Type.Object(
  {
    name: executorName('Name of the executor'),
    busy: Type.Boolean({ description: 'Whether it runs code now' }),
    created_at: Timestamp('When it was first used'),
    last_used_at: Timestamp('When its last call began or ended'),
    target_id: Type.Optional(targetId("Its tab, as CDP's target id")),
    url: Type.Optional(
      Type.String({ maxLength: 8192, description: 'Address of the tab, cut after 8192 characters' }),
    ),
  },
  { title: 'PlaywrightExecutor' },
)
export type PlaywrightExecutor = Static<typeof PlaywrightExecutor>
