// The sent requests and their answers by operation, and the failures.
import { describeRequest, type FuzzRequest } from './request.ts'

const MAX_SHOWN = 20

interface Row {
  requests: number
  readonly statuses: Map<number, number>
}

interface Violation {
  count: number
  readonly complaint: string
  readonly request: string
  readonly answer: string
}

/** With fewer requests, an operation may fail each time by chance. */
const ENOUGH_REQUESTS = 100

/** What hardly happens by chance: a login that is under way, a cookie, and code that runs in a fake instance. */
const NEED_MORE = new Set([
  'checkAuthConnection',
  'deletePlaywrightExecutor',
  'exchangeAuthInvocation',
  'getAuthInvocation',
  'getSignIn',
  'postAuthConnectionsExchange',
  'postAuthConnectionsSubmit',
  'submitAuthInvocation',
])

export class Report {
  readonly #rows = new Map<string, Row>()
  readonly #violations = new Map<string, Violation>()
  #violationCount = 0

  constructor(operationIds: readonly string[]) {
    for (const id of operationIds) this.#rows.set(id, { requests: 0, statuses: new Map() })
  }

  count(operationId: string, status: number): void {
    const row = this.#rows.get(operationId) ?? { requests: 0, statuses: new Map<number, number>() }
    this.#rows.set(operationId, row)
    row.requests++
    row.statuses.set(status, (row.statuses.get(status) ?? 0) + 1)
  }

  /** Keeps one failure of each kind: the first, with everything needed to send it again. */
  complain(operationId: string, complaint: string, request: FuzzRequest, answer: string): void {
    this.#violationCount++
    const kind = `${operationId} ${complaint.replaceAll(/\d{4,}|req_\w+|"[^"]*"/g, '').slice(0, 100)}`
    const known = this.#violations.get(kind)
    if (known) known.count++
    else
      this.#violations.set(kind, {
        count: 1,
        complaint,
        request: describeRequest(request),
        answer: answer.slice(0, 500),
      })
  }

  get problems(): string[] {
    const silent = [...this.#rows]
      .filter(([id, row]) => id !== UNKNOWN && !NEED_MORE.has(id) && row.requests >= ENOUGH_REQUESTS)
      .filter(([, row]) => successes(row) === 0)
      .map(([id, row]) => `${id} never succeeded in ${row.requests} requests`)
    const shown = [...this.#violations]
      .slice(0, MAX_SHOWN)
      .map(([kind, { count, complaint, request, answer }]) =>
        [
          `${kind.split(' ')[0]}: the answer ${complaint} (${count} times)`,
          `  request ${request}`,
          `  answer  ${answer}`,
        ].join('\n'),
      )
    const more = this.#violations.size - shown.length
    return [...silent, ...shown, ...(more > 0 ? [`and ${more} kinds of violation more`] : [])]
  }

  table(): string {
    const lines = [...this.#rows].map(([id, row]) => [
      id,
      String(row.requests),
      row.requests > 0 ? `${((100 * successes(row)) / row.requests).toFixed(1)} %` : '-',
      [...row.statuses]
        .toSorted(([a], [b]) => a - b)
        .map(([status, count]) => `${status}:${count}`)
        .join(' '),
    ])
    const table = [['Operation', 'Requests', '2xx', 'Statuses'], ...lines]
    const widths = [0, 1, 2].map((column) => Math.max(...table.map((line) => line[column]!.length)))
    const text = table.map(([id = '', requests = '', share = '', statuses = '']) =>
      [id.padEnd(widths[0]!), requests.padStart(widths[1]!), share.padStart(widths[2]!), statuses].join('  '),
    )
    return [...text, `Violations: ${this.#violationCount}`].join('\n')
  }
}

/** For requests that match no operation of the document. */
export const UNKNOWN = '(none)'

function successes({ statuses }: Row): number {
  return [...statuses].reduce(
    (sum, [status, count]) => (status >= 200 && status < 300 ? sum + count : sum),
    0,
  )
}
