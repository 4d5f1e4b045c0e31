// Reads the environment once, before anything starts. Everything else gets its values from here.
import { ConfigError } from './config-error.ts'
import { contradictions } from './contradictions.ts'
import { SettingError } from './parsers/setting-error.ts'
import type { Setting } from './settings/setting.ts'
import { settings, type SettingValues } from './settings/settings.ts'
import { suggestion } from './suggestion.ts'
import { isTest, testVariables } from './test-variables.ts'

export interface Config extends Readonly<SettingValues> {
  /** For programs of this machine that we start as the operator would, such as npm. */
  readonly hostEnvironment: { readonly PATH: string | undefined; readonly HOME: string | undefined }
}

/** Throws a ConfigError that lists every problem. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, row] of Object.entries<Setting<unknown>>(settings)) {
    try {
      values[name] = row.parse(env[name]?.trim() || row.default)
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      problems.push(`${name} ${error.message}`)
    }
  }
  problems.push(...unknownVariables(env))
  // SAFETY: no problem means every row of the table was parsed.
  const parsed = values as SettingValues
  if (problems.length === 0) problems.push(...contradictions(parsed))
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...parsed, hostEnvironment: { PATH: env['PATH'], HOME: env['HOME'] } }
}

function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith('BERTH_') || name in settings) return []
    if (testVariables.includes(name) && isTest(env)) return []
    const meant = suggestion(name, Object.keys(settings))
    return [`${name} is not a setting${meant === undefined ? '' : `; did you mean ${meant}?`}`]
  })
}
