// A report of a login becomes a test: its pages, as the rules saw them, and what the rules should read there.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { readPage } from '../rules/read-page.ts'
import type { Outline } from '../run/step.ts'
import { outlineOf } from './outline.ts'

/** A file of `reports/`. */
export interface Fixture {
  /** What the page is, and what went wrong. */
  readonly about: string
  readonly page: PageSnapshot
  /** What the rules read when the report was made. */
  readonly read: Outline
  /** What they should read. Parts that it does not name may be anything; null: there must be none. */
  readonly wanted: { readonly [Part in keyof Outline]?: Outline[Part] | null }
}

/** What the answer of `GET /auth/connections/{id}/timeline/{event_id}?pages=true` has of a step. */
export interface ReportedStep {
  readonly number: number
  readonly reason: string
  readonly saw: string
  readonly page?: PageSnapshot
  readonly read?: Outline
}

export interface Report {
  readonly domain: string
  readonly error_message?: string
  readonly steps: readonly ReportedStep[]
}

/** Of one step: by default the last one with a page, where the login ended. */
export function fixtureOf(
  report: Report,
  { number, wanted }: { number?: number | undefined; wanted?: Fixture['wanted'] | undefined } = {},
): Fixture {
  const pages = report.steps.filter((step) => step.page !== undefined)
  const step = number === undefined ? pages.at(-1) : pages.find((each) => each.number === number)
  if (!step?.page) {
    const numbers = pages.map((each) => each.number).join(', ')
    throw new Error(
      pages.length === 0
        ? 'The report has no pages: export it with its pages'
        : `The report has no page for step ${number}: choose from ${numbers}`,
    )
  }
  const read = step.read ?? outlineOf(readPage(step.page))
  return {
    about: [report.domain, `step ${step.number}`, report.error_message].filter(Boolean).join(', '),
    page: step.page,
    read,
    wanted: wanted ?? read,
  }
}

/** What the rules read differently from what they should. `read`: the rules of today, by default. */
export function problemsOf(
  { page, wanted }: Fixture,
  read: (page: PageSnapshot) => Outline = (each) => outlineOf(readPage(each)),
): string[] {
  const now = read(page)
  return Object.entries(wanted).flatMap(([part, value]) => {
    // SAFETY: a name of the outline, by its type.
    const found = now[part as keyof Outline] ?? null
    return JSON.stringify(found) === JSON.stringify(value)
      ? []
      : [`${part}: should be ${JSON.stringify(value)}, but is ${JSON.stringify(found)}`]
  })
}
