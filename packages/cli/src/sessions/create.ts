// Creates a session, or leases one of a pool.
import type { Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'
import { print } from '../output/print.ts'
import { askOne, confirm } from '../output/questions.ts'

const VIEWPORTS = ['1280x800', '1920x1080', '1440x900', '1024x768', '390x844']

export async function run(context: Context): Promise<void> {
  const { options, terminal, format } = context
  const pool = (options['poolId'] ?? options['poolName']) as string | undefined
  if (options['poolId'] !== undefined && options['poolName'] !== undefined)
    throw usage('Cannot use --pool-id and --pool-name together')
  const answer = pool === undefined ? await create(context) : await lease(context, pool)
  await print(terminal, answer, { format })
}

async function create({ api, input, options, terminal }: Context): Promise<unknown> {
  const body = { ...input.body }
  if (options['viewportInteractive'] === true) {
    if (!terminal.isInteractive)
      throw usage('Cannot ask for the viewport: there is no terminal', 'Say it with --viewport 1280x800')
    const chosen = await askOne(terminal, {
      message: 'Viewport',
      options: VIEWPORTS.map((value) => ({ value })),
    })
    const [width, height] = chosen.split('x').map(Number)
    body['viewport'] = { width, height }
  }
  return (await api()).call('createBrowser', { body })
}

/** What a lease can change; a pool decides the rest. */
const OF_A_LEASE = new Set(['name', 'tags', 'start_url', 'telemetry'])

async function lease(context: Context, pool: string): Promise<unknown> {
  const { api, input, terminal, isYes } = context
  const ignored = Object.keys(input.body).filter((name) => !OF_A_LEASE.has(name))
  if (ignored.length > 0) {
    await confirm(terminal, {
      question: `A browser of a pool has the settings of the pool. Go on without ${ignored.join(', ')}?`,
      isYes,
    })
  }
  const body = Object.fromEntries(Object.entries(input.body).filter(([name]) => OF_A_LEASE.has(name)))
  return (await api()).call('acquireBrowser', { params: { id: pool }, body })
}
