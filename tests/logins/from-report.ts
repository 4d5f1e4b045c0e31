// Makes a test of the rules from the report of a login:
//   berth auth connections explain ID --report report.json
//   npm run logins -- --from-report report.json --name captcha-beside-form
//   npm run logins -- --from-report report.json --step 3 --wanted '{"obstacle": null}'
// The file says what the rules read now. Change `wanted` in it to what they should read, watch the test fail, and fix the
// rule.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { spawnSync } from 'node:child_process'
import { fixtureOf, problemsOf, type Fixture, type Report } from '@berth/login/explain/report'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'packages/login/src/explain/reports')
const test = 'packages/login/src/explain/reports.test.ts'

export interface FromReport {
  readonly file: string
  readonly name: string | undefined
  readonly step: string | undefined
  /** JSON. */
  readonly wanted: string | undefined
}

/** Returns what to say about it. */
export function addFixture({ file, name, step, wanted }: FromReport, into = folder): string {
  const report = readJson(file, readFileSync(file, 'utf8')) as Report
  if (!Array.isArray(report.steps)) throw new Error(`${file} is not a report: it has no steps`)
  const number = step === undefined ? undefined : Number(step)
  const fixture = fixtureOf(report, {
    number,
    ...(wanted !== undefined && { wanted: readJson('--wanted', wanted) as Fixture['wanted'] }),
  })
  const path = join(into, `${slugOf(name ?? `${report.domain}-${number ?? 'end'}`)}.json`)
  if (existsSync(path)) throw new Error(`${relative(root, path)} exists already: choose another --name`)
  writeFileSync(path, `${JSON.stringify(fixture, null, 2)}\n`)
  spawnSync(join(root, 'node_modules/.bin/oxfmt'), [path])
  const problems = problemsOf(fixture)
  return [
    `Wrote ${relative(root, path)}.`,
    ...(problems.length > 0
      ? ['The rules read it differently from what is wanted:', ...problems.map((text) => `  ${text}`)]
      : ['Change "wanted" in it to what the rules should read.']),
    `Then: node --test ${test}`,
  ].join('\n')
}

function readJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${what} is not JSON: ${(cause as Error).message}`, { cause })
  }
}

const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
