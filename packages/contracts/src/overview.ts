// One answer for a first page: what runs now, what ran on the last days, and what failed last.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, Timestamp } from './schema.ts'

/** Ends that nobody asked for. */
export const failedEnds = ['crashed', 'out_of_memory', 'start_failed', 'lost'] as const
export const MAX_FAILURES = 20
export const MAX_DAYS = 90

const byDisplay = (description: string) =>
  Type.Object(
    {
      headless: Type.Integer({ description: 'Without a display' }),
      headful: Type.Integer({ description: 'With a display' }),
    },
    { description },
  )

const stock = (description: string) =>
  Type.Object(
    {
      ready: Type.Integer({ description: 'How many are ready now' }),
      wanted: Type.Integer({ description: 'How many the server keeps ready, as its settings say' }),
    },
    { description },
  )

const limit = (description: string) => Nullable(Type.Integer({ description }))

export const Overview = Type.Object(
  {
    capacity: Type.Object(
      {
        sessions: Type.Object(
          {
            starting: byDisplay('Sessions that are being started'),
            in_use: byDisplay('Sessions that run'),
            standby: byDisplay('Sessions whose processes are frozen until somebody uses them'),
            idle_in_pools: byDisplay('Browsers of pools that are started and not leased'),
          },
          { description: 'Sessions by what they do now, on all servers' },
        ),
        warm: Type.Object(
          {
            headless: stock('With a browser without a display'),
            headful: stock('With a browser with a display'),
            gpu: stock('With a browser on a GPU'),
            empty: stock('Without a browser, as the base for unusual ones'),
          },
          { description: 'Instances that wait for a session, on the server that answers' },
        ),
        places: Type.Object(
          {
            used: Type.Integer({
              description: 'Places for sessions that are taken; a pool takes its full size',
            }),
            max: Type.Integer({ description: 'Places of the whole organisation' }),
            project_max: limit('Places of the project. Null: no limit of its own, or no project is selected'),
            pooled_used: Type.Integer({ description: 'Places that pools take' }),
            pooled_max: Type.Integer({ description: 'Places that all pools of the organisation may take' }),
            project_pooled_max: limit(
              'Places that pools of the project may take. Null: no limit of its own, or no project is selected',
            ),
          },
          { description: 'How much of the limits is used' },
        ),
      },
      { description: 'What is in use now' },
    ),
    days: Type.Array(
      Type.Object(
        {
          date: Type.String({ description: 'The day in UTC, such as 2026-01-31' }),
          sessions: Type.Integer({
            description: 'Sessions created on this day, with browsers of pools and failed starts',
          }),
          minutes: Type.Number({
            description:
              'Minutes that the sessions created on this day have run, without standby. A session that ran past midnight counts for the day of its creation',
          }),
        },
        { title: 'OverviewDay' },
      ),
      {
        description:
          'One entry for each day, the oldest first, today last. Today is up to 10 seconds old, earlier days up to 5 minutes',
      },
    ),
    failures: Type.Array(
      Type.Object(
        {
          session_id: Type.String({ description: 'Id of the session' }),
          name: Type.Optional(Type.String({ description: 'Name of the session' })),
          pool_id: Type.Optional(Type.String({ description: 'Id of the pool that it belonged to' })),
          end_reason: OneOf(failedEnds, { description: 'Why it ended' }),
          created_at: Timestamp('When it was created'),
          deleted_at: Timestamp('When it ended'),
        },
        { title: 'OverviewFailure' },
      ),
      {
        description: `The last ${MAX_FAILURES} sessions that ended without anybody asking for it, the newest first`,
      },
    ),
  },
  { title: 'Overview' },
)
export type Overview = Static<typeof Overview>

export const getOverview = operation({
  id: 'getOverview',
  tag: 'Browsers',
  summary: 'Extension: get what runs now, what ran lately, and what failed',
  description:
    'For the first page of a dashboard. With a project key or a project header: of that project; otherwise of the whole organisation.',
  method: 'GET',
  path: '/overview',
  query: Type.Object({
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_DAYS,
        default: 30,
        description: 'How many days, with today',
      }),
    ),
  }),
  status: 200,
  response: Overview,
  errors: ['bad_request'],
})
