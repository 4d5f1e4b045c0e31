// Runs the BiDi mapper's own end-to-end tests, which are in Python.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Arm } from './arm.ts'
import { openBidiEndpoint } from './bidi-endpoint.ts'
import { readPytestReport } from './pytest-report.ts'
import type { Results } from './result.ts'
import { runProgram } from './run-program.ts'
import type { Selection } from './suite.ts'

export interface BidiOptions {
  /** A checkout of chromium-bidi. */
  readonly repository: string
  /** A Python that has the packages of its Pipfile. */
  readonly python: string
  /** An empty folder. */
  readonly directory: string
}

export async function runBidi(
  arm: Arm,
  { repository, python, directory }: BidiOptions,
  { grep, files }: Selection,
): Promise<Results> {
  const report = join(directory, 'report.xml')
  const endpoint = await openBidiEndpoint(arm)
  try {
    await runProgram(
      python,
      [
        '-m',
        'pytest',
        '--quiet',
        '--tb=short',
        '--no-header',
        '--snapshot-warn-unused',
        `--junitxml=${report}`,
        // Otherwise it keeps the downloads of its last three runs.
        `--basetemp=${join(directory, 'files')}`,
        // This family names the files.
        '--override-ini=junit_family=xunit1',
        ...(grep === undefined ? [] : ['-k', grep]),
        ...files,
      ],
      { cwd: repository, env: { PORT: String(endpoint.port), HEADLESS: 'new', BROWSER_BIN: '' } },
    )
  } finally {
    await endpoint.close()
  }
  if (!existsSync(report)) throw new Error('pytest left no report; its output says why')
  return readPytestReport(readFileSync(report, 'utf8'))
}
