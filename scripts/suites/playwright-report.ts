// Reads the JSON report of Playwright's test runner.
import { shortened, type Outcome, type Result, type Results } from './result.ts'

interface Report {
  readonly suites: readonly Suite[]
  readonly errors?: readonly { readonly message?: string }[]
}

interface Suite {
  readonly title: string
  readonly file: string
  readonly specs: readonly Spec[]
  readonly suites?: readonly Suite[]
}

interface Spec {
  readonly title: string
  readonly file: string
  readonly line: number
  readonly tests: readonly {
    readonly status: 'expected' | 'unexpected' | 'flaky' | 'skipped'
    readonly results: readonly { readonly error?: { readonly message?: string } }[]
  }[]
}

const outcomes: Record<Spec['tests'][number]['status'], Outcome> = {
  expected: 'passed',
  flaky: 'passed',
  unexpected: 'failed',
  skipped: 'skipped',
}

export function readPlaywrightReport(text: string): Results {
  const { suites, errors = [] } = JSON.parse(text) as Report
  const results = new Map<string, Result>()
  // The outermost title is the file.
  for (const suite of suites) read(suite, [suite.file], results)
  if (results.size === 0 && errors.length > 0) {
    const messages = errors.map(({ message = '' }) => shortened(message))
    throw new Error(`Playwright's tests cannot run: ${messages.join('; ')}`)
  }
  return results
}

function read({ specs, suites = [] }: Suite, titles: readonly string[], results: Map<string, Result>): void {
  for (const { title, file, line, tests } of specs) {
    const [test] = tests
    if (!test) continue
    const message = test.results.find(({ error }) => error)?.error?.message
    results.set([...titles, title].join(' › '), {
      outcome: outcomes[test.status],
      selector: `${file}:${line}`,
      ...(message !== undefined && test.status === 'unexpected' && { error: shortened(message) }),
    })
  }
  for (const suite of suites) read(suite, [...titles, suite.title], results)
}
