// Runs the login engine against real software, with a new agent and Chromium for every attempt: with a stored credential
// and with a person, with the right password and with a wrong one. Then checks that the engine can tell whether the
// browser is signed in.
import { logInAt, type LoginPlace, type LoginReport, type Mode } from '../fixtures/login-at-place.ts'
import { PageActionsUnderTest } from '../fixtures/login-page-actions.ts'
import { knownValuesOf, describe } from '../fixtures/login-person.ts'
import type { ValueName, Variant } from '../fixtures/login-zoo/kit/site.ts'
import { forgetAll, keptBy } from './browser-under-test.ts'
import { owning } from './owning.ts'
import type { RunningSoftware, Software } from './software.ts'

const LOGIN_TIMEOUT_MS = 180_000
const MAX_TEXT = 600

export interface EngineRow {
  readonly software: string
  readonly attempt: string
  /** `as described`, or the difference. */
  readonly verdict: string
  readonly seconds: number
  /** Explains the verdict: the questions, the actions, the outcome, and the text of the last page. */
  readonly details: readonly string[]
}

export async function* runEngine(one: Software, running: RunningSoftware): AsyncGenerator<EngineRow> {
  for (const mode of ['alone', 'attended'] as const) {
    for (const variant of one.variants) {
      const startedAt = performance.now()
      const { verdict, details } = await owning((owner) => attempt({ owner, one, running, variant, mode }))
      const seconds = Math.round((performance.now() - startedAt) / 1000)
      yield { software: one.name, attempt: `${variant.name}, ${mode}`, verdict, seconds, details }
    }
  }
}

async function attempt(run: {
  owner: Parameters<typeof PageActionsUnderTest.start>[0]
  one: Software
  running: RunningSoftware
  variant: Variant
  mode: Mode
}): Promise<Pick<EngineRow, 'verdict' | 'details'>> {
  const { owner, one, running, variant, mode } = run
  const user = one.users.find(({ key }) => key === variant.user)!
  const hosts = [new URL(running.url).host]
  const credential = mode === 'alone' ? knownValuesOf(user, variant, { hosts }) : undefined
  const pageActions = await PageActionsUnderTest.start(owner)
  try {
    const place = placeOf(one, running)
    const report = await logInAt({ pageActions, place, variant, credential, withinMs: LOGIN_TIMEOUT_MS })
    return { verdict: report.verdict, details: await detailsOf(report, pageActions) }
  } catch (error) {
    return { verdict: String(error), details: await lastPage(pageActions) }
  }
}

function placeOf(one: Software, running: RunningSoftware): LoginPlace {
  const { host, origin } = new URL(running.url)
  const value = (variant: Variant) => (name: ValueName) => {
    const user = one.users.find(({ key }) => key === variant.user)!
    return variant.gives?.[name] ?? user[name as 'password']
  }
  return {
    domain: host,
    loginUrl: one.loginPath && new URL(one.loginPath, running.url).href,
    allowedDomains: [],
    person: (variant) => ({ value: value(variant) }),
    actElsewhere: () => Promise.reject(new Error(`"${one.name}" asks for nothing outside the browser`)),
    isSignedIn: async (pageActions) => running.isSignedIn(await keptBy(pageActions, origin)),
    async signOut(pageActions) {
      if (running.signOut) await running.signOut(await keptBy(pageActions, origin))
      else await forgetAll(pageActions, origin)
    },
  }
}

async function detailsOf(report: LoginReport, pageActions: PageActionsUnderTest): Promise<string[]> {
  const { outcome, questions, verdict } = report
  const asked = questions.map(
    (question) => `asked: ${describe(question)}, website said [${question.websiteError ?? ''}]`,
  )
  const result =
    outcome?.isSuccess === false
      ? [`failed: ${outcome.code}, ${outcome.message}, website said [${outcome.websiteError ?? ''}]`]
      : outcome
        ? [`succeeded: ${outcome.postLoginUrl}, checks ${JSON.stringify(outcome.checks)}`]
        : []
  const did = `did: ${pageActions.acts.join(', ')}`
  return [...asked, did, ...result, ...(verdict === 'as described' ? [] : await lastPage(pageActions))]
}

async function lastPage(pageActions: PageActionsUnderTest): Promise<string[]> {
  try {
    const order = { quiet_ms: 0, most_ms: 1_000 }
    const { url, status, frames } = await pageActions.look(order, AbortSignal.timeout(10_000))
    const text = frames.map((frame) => frame.text).join(' | ')
    return [`page: ${url} (${status}): ${text.replaceAll(/\s+/g, ' ').slice(0, MAX_TEXT)}`]
  } catch (error) {
    return [`page: cannot be read: ${String(error)}`]
  }
}
