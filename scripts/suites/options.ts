// The command line of `npm run test:suites`.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { SuiteName } from './known-differences.ts'

export const usage = `Runs the tests of Playwright and of the BiDi mapper against a bare Chromium and through Berth, and compares.

  npm run test:suites -- --playwright DIR --bidi DIR [options] [file ...]

  --playwright DIR   a checkout of github.com/microsoft/playwright that has been built
  --bidi DIR         a checkout of github.com/GoogleChromeLabs/chromium-bidi
  --only SUITE       page, library (both of Playwright) or bidi; may be given several times
  --grep X           only tests whose names match; a regular expression for Playwright, pytest's -k for BiDi
  --python PROGRAM   a Python with the packages of the BiDi checkout's Pipfile; python3 by default
  --berth-first      runs in the bare Chromium only what does not pass through Berth, for half the time
  --workers N        how many of Playwright's tests run at once; 1 by default
  --results FILE     writes every result as JSON
`

export interface Options {
  readonly suites: readonly SuiteName[]
  readonly playwright?: string
  readonly bidi?: string
  readonly grep: string | undefined
  readonly python: string
  readonly isBerthFirst: boolean
  readonly workers: number
  readonly results: string | undefined
  readonly files: readonly string[]
}

const repositoryOf = { page: 'playwright', library: 'playwright', bidi: 'bidi' } as const
const names = Object.keys(repositoryOf) as SuiteName[]

export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      playwright: { type: 'string' },
      bidi: { type: 'string' },
      only: { type: 'string', multiple: true },
      grep: { type: 'string' },
      python: { type: 'string', default: 'python3' },
      'berth-first': { type: 'boolean', default: false },
      workers: { type: 'string', default: '1' },
      results: { type: 'string' },
    },
  })
  const { playwright, bidi, only, grep, python, results } = values
  const given = { playwright, bidi }
  const suites = names.filter((name) =>
    only ? only.includes(name) : given[repositoryOf[name]] !== undefined,
  )
  const unknown = only?.find((name) => !names.includes(name as SuiteName))
  if (unknown !== undefined) throw new Error(`Cannot run "${unknown}": --only takes ${names.join(', ')}`)
  if (suites.length === 0) throw new Error('Nothing to run: give --playwright DIR, --bidi DIR or both')
  for (const suite of suites) {
    const directory = given[repositoryOf[suite]]
    if (directory === undefined) throw new Error(`Cannot run "${suite}": give --${repositoryOf[suite]} DIR`)
    if (!existsSync(directory)) throw new Error(`Cannot run "${suite}": there is no ${directory}`)
  }
  const workers = Number(values.workers)
  if (!Number.isInteger(workers) || workers < 1) throw new Error('--workers takes a whole number from 1')
  return {
    suites,
    ...(playwright !== undefined && { playwright: resolve(playwright) }),
    ...(bidi !== undefined && { bidi: resolve(bidi) }),
    grep,
    python,
    isBerthFirst: values['berth-first'],
    workers,
    results: results === undefined ? undefined : resolve(results),
    files: positionals,
  }
}
