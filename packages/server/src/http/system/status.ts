// What works, in the words of the status page that the published command line prints.
import type { ComponentStatus, ServiceStatus } from '@berth/contracts/system'
import type { Readiness } from './readiness.ts'

/** The command line waits for 10 s. */
const DATABASE_TIMEOUT_MS = 3_000

interface Component {
  readonly name: string
  readonly status: ComponentStatus
  readonly detail?: string
}
type Components = readonly Component[]

export interface StatusOptions {
  readonly readiness: Pick<Readiness, 'isDraining' | 'isDatabaseUp'>
  /** Whether this server's host can run sessions at all. */
  readonly canRunSessions: () => boolean
  /** What works on some hosts only, and is of interest on this one. */
  readonly further: () => readonly {
    readonly name: string
    readonly isUp: boolean
    readonly detail: string
    /** Without it everything works, but costs more. */
    readonly isMinor?: boolean
  }[]
}

const up = (isUp: boolean): ComponentStatus => (isUp ? 'operational' : 'full_outage')

export class StatusReport {
  readonly #options: StatusOptions
  #isDatabaseUp: Promise<boolean> | undefined

  constructor(options: StatusOptions) {
    this.#options = options
  }

  async read(): Promise<ServiceStatus> {
    const { readiness, canRunSessions, further } = this.#options
    // Anyone may ask, so requests at the same time share one look at the database.
    this.#isDatabaseUp ??= readiness
      .isDatabaseUp(AbortSignal.timeout(DATABASE_TIMEOUT_MS))
      .finally(() => (this.#isDatabaseUp = undefined))
    const isDatabaseUp = await this.#isDatabaseUp
    const groups: { name: string; components: Components }[] = [
      {
        name: 'API',
        components: [
          { name: 'Server', status: readiness.isDraining ? 'maintenance' : 'operational' },
          { name: 'Database', status: up(isDatabaseUp) },
        ],
      },
      {
        name: 'Browsers',
        components: [
          { name: 'New sessions', status: up(isDatabaseUp && canRunSessions()) },
          { name: 'Running sessions', status: up(canRunSessions()) },
          ...further().map(({ name, isUp, detail, isMinor = false }) => ({
            name,
            status: !isUp && isMinor ? ('degraded_performance' as const) : up(isUp),
            detail,
          })),
        ],
      },
    ]
    return {
      status: statusOf(groups.flatMap(({ components }) => components)),
      groups: groups.map(({ name, components }) => ({
        name,
        status: statusOf(components),
        components: [...components],
      })),
    }
  }
}

/** An outage of a part is a partial outage of the whole, and more important than maintenance. */
export function statusOf(components: Components): ComponentStatus {
  const isOut = components.map(({ status }) => status === 'full_outage')
  if (isOut.every(Boolean)) return 'full_outage'
  if (isOut.some(Boolean)) return 'partial_outage'
  return components.some(({ status }) => status === 'maintenance') ? 'maintenance' : 'operational'
}
