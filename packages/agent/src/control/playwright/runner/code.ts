// Makes a function of the code of a call: types are taken out of it, which leaves every line and column
// where it was, and what does not parse is told with its place.
import { stripTypeScriptTypes } from 'node:module'
import { Script, constants } from 'node:vm'
import type { Browser, BrowserContext, Page } from 'playwright-core'

export type Code = (page: Page, context: BrowserContext, browser: Browser) => Promise<unknown>

const FILE = 'code.ts'
/** Before the first line of the code, which stays line 1. */
const HEAD_LINES = 1

export class BadCode extends Error {}

export function compile(code: string): Code {
  const whole = `(async (page, context, browser) => {\n${code}\n})`
  try {
    const script = new Script(withoutTypes(whole), {
      filename: FILE,
      lineOffset: -HEAD_LINES,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    // SAFETY: it is what was written above.
    return script.runInThisContext() as Code
  } catch (error) {
    throw error instanceof SyntaxError ? new BadCode(describe(error), { cause: error }) : error
  }
}

function withoutTypes(code: string): string {
  try {
    return stripTypeScriptTypes(code, { mode: 'strip' })
  } catch (error) {
    // Enums and parameter properties are more than types.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw error
    return stripTypeScriptTypes(code, { mode: 'transform' })
  }
}

/**
 * The stack of a syntax error begins with its place: `file:line`, or `:line` of the whole from the type
 * stripper, then the line itself and a mark below it.
 */
function describe({ message, stack = '' }: SyntaxError): string {
  const lines = stack.split('\n')
  const [, file, lineText] = /^(.*):(\d+)$/.exec(lines[0]!) ?? []
  const mark = lines.find((line) => /^\s*\^+\s*$/.test(line))
  if (lineText === undefined || mark === undefined) return `SyntaxError: ${message}`
  const line = Number(lineText) - (file === FILE ? 0 : HEAD_LINES)
  return `SyntaxError: ${message} (line ${line}, column ${mark.indexOf('^') + 1})`
}
