// Reads the JUnit report of pytest.
import { shortened, type Outcome, type Result, type Results } from './result.ts'

const CASE = /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g
const PROBLEM = /<(failure|error|skipped)\b([^>]*)>/
const ATTRIBUTE = /([\w:]+)="([^"]*)"/g
const ENTITY = /&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export function readPytestReport(xml: string): Results {
  const results = new Map<string, Result>()
  for (const [, head = '', body = ''] of xml.matchAll(CASE)) {
    const { file, classname = '', name = '' } = attributesOf(head)
    if (classname === 'pytest' && name === 'internal') {
      throw new Error(
        'pytest ended because of an error of its own, so that tests are missing; its output says why',
      )
    }
    // pytest leaves the file out of tests that it made itself.
    const path = file ?? `${classname.replaceAll('.', '/')}.py`
    const [, problem, about = ''] = PROBLEM.exec(body) ?? []
    const outcome = outcomeOf(problem)
    const id = `${path}::${name}`
    // A test that fails, and then also in its clean-up, has two entries.
    if (outcome !== 'failed' && results.has(id)) continue
    results.set(id, {
      outcome,
      // All parameters of the test: their values may have characters that XML cannot hold.
      selector: `${path}::${name.replace(/\[.*$/s, '')}`,
      ...(outcome === 'failed' && { error: shortened(attributesOf(about)['message'] ?? '') }),
    })
  }
  return results
}

function outcomeOf(problem: string | undefined): Outcome {
  if (problem === undefined) return 'passed'
  return problem === 'skipped' ? 'skipped' : 'failed'
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(ATTRIBUTE)].map(([, name, value]) => [name!, unescaped(value!)]),
  )
}

function unescaped(value: string): string {
  return value.replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return entities[name] ?? whole
    return String.fromCodePoint(hex === undefined ? Number(decimal) : parseInt(hex, 16))
  })
}
