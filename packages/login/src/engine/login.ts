// Runs a login from the domain to the page behind it, or to the reason why it failed.
import { LoginFailed } from './failure.ts'
import { importSession } from './import.ts'
import { LoginRun } from './login-run.ts'
import type { LoginOptions, LoginOutcome } from '../run/run.ts'

/** Rejects only when the signal fires or the page actions fail. Everything that pages do is an outcome. */
export async function login(options: LoginOptions): Promise<LoginOutcome> {
  if (!options.imported) return new LoginRun(options).go()
  try {
    return await importSession(options, options.imported)
  } catch (error) {
    if (!(error instanceof LoginFailed)) throw error
    return { isSuccess: false, code: error.code, message: error.message, websiteError: error.websiteError }
  }
}
