// Prints the result of each file as it ends, every failure with the output of its file, the slowest files, and how
// many tests passed and failed.
import { isAbsolute, relative } from 'node:path'
import { inspect } from 'node:util'
import type { TestsStream } from 'node:test'

const SLOWEST_SHOWN = 20
const MAX_OUTPUT_SHOWN = 64 * 1024

export interface Totals {
  readonly passed: number
  readonly failed: number
  /** Milliseconds of each file, including the start of its process. */
  readonly durations: ReadonlyMap<string, number>
}

export class Reporter {
  readonly #root: string
  readonly #durations = new Map<string, number>()
  readonly #failures: string[] = []
  #passed = 0
  #failed = 0
  #skipped = 0

  constructor(root: string) {
    this.#root = root
  }

  /** Resolves when the process has ended. `files`: the test files that run in it. */
  async follow(files: readonly string[], events: TestsStream, hanging: AbortSignal): Promise<void> {
    const startedAt = performance.now()
    const results = new Map(files.map((file) => [file, { tests: 0, failures: [] as string[], ms: 0 }]))
    const [first] = files as readonly [string]
    const resultOf = (path: string | undefined) =>
      results.get(path === undefined ? first : relative(this.#root, path)) ?? results.get(first)!
    const path: string[] = []
    let output = ''
    let counted = { tests: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0 }
    const add = (text: string) => (output = (output + text).slice(-MAX_OUTPUT_SHOWN))
    for await (const { type, data } of events) {
      if (type === 'test:start') {
        path.length = data.nesting
        path[data.nesting] = data.name
      } else if (type === 'test:stdout' || type === 'test:stderr') add(data.message)
      else if (type === 'test:diagnostic' && data.file !== undefined) add(`${data.message}\n`)
      else if (type === 'test:summary' && data.file === undefined) counted = data.counts
      else if (type === 'test:pass' || type === 'test:fail') {
        const result = resultOf(data.file)
        const { duration_ms } = data.details
        // Node reports a file without a test as a test with the path as its name.
        if (data.nesting === 0 && !isAbsolute(data.name)) {
          result.tests++
          result.ms += duration_ms
        }
        if (type === 'test:pass' || data.todo !== undefined) continue
        const { error } = data.details
        // A group that fails only because of a test in it adds nothing.
        if ((error as { failureType?: string }).failureType === 'subtestsFailed') continue
        const test = [...path.slice(0, data.nesting), data.name].join(' > ')
        const where = `${relative(this.#root, data.file ?? first)}:${data.line ?? 0}`
        result.failures.push(`✖ ${test} (${seconds(duration_ms)})\n  at ${where}\n${indent(describe(error))}`)
      }
    }
    const duration = performance.now() - startedAt
    if (hanging.aborted)
      resultOf(undefined).failures.push(
        `✖ ${files.join(', ')} did not end within ${seconds(duration)} and was killed`,
      )
    let hasFailed = false
    for (const [file, { tests, failures, ms }] of results) {
      if (tests === 0) failures.push(`✖ ${file} has no test, or ended before its first test`)
      const fileMs = files.length === 1 ? duration : ms
      this.#durations.set(file, fileMs)
      this.#failures.push(...failures)
      hasFailed ||= failures.length > 0
      console.log(`${failures.length === 0 ? '✔' : '✖'} ${file}  ${tests} tests  ${seconds(fileMs)}`)
      for (const failure of failures) console.log(failure)
    }
    const failed = counted.failed + counted.cancelled
    const reported = results.values().reduce((sum, { failures }) => sum + failures.length, 0)
    this.#passed += counted.passed
    this.#failed += Math.max(failed, reported)
    this.#skipped += counted.skipped
    if (failed > 0 && !hasFailed)
      console.log(`✖ ${files.join(', ')}: ${failed} tests failed or were cancelled`)
    if ((hasFailed || failed > 0) && output) console.log(`  The process printed:\n${indent(output)}`)
  }

  get failed(): number {
    return this.#failed
  }

  /** Records a failure outside the tests. */
  fail(what: string, error: unknown): void {
    const failure = `✖ ${what}\n${indent(describe(error))}`
    this.#failures.push(failure)
    this.#failed++
    console.log(failure)
  }

  /** Prints the summary of all files. */
  end(): Totals {
    const slowest = [...this.#durations].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN)
    console.log(`\nThe slowest ${slowest.length} files:`)
    for (const [name, duration] of slowest) console.log(`${seconds(duration).padStart(9)}  ${name}`)
    if (this.#failures.length > 0) {
      console.log('\nFailures (the output of each file is above):\n')
      for (const failure of this.#failures) console.log(`${failure}\n`)
    }
    if (this.#skipped > 0) console.log(`\n${this.#skipped} skipped`)
    return { passed: this.#passed, failed: this.#failed, durations: this.#durations }
  }
}

/** Errors of node:test wrap the actual error. */
function describe(error: unknown): string {
  const { cause, failureType } = error as { cause?: unknown; failureType?: string }
  const inner = failureType === 'testCodeFailure' || failureType === 'hookFailed' ? (cause ?? error) : error
  return inspect(inner, { depth: 6, breakLength: 120, maxStringLength: 20_000 })
}

const indent = (text: string) => text.trimEnd().replaceAll(/^/gm, '    ')
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
