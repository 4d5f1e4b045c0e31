// Compiles the code of a call to a function. Types are removed without moving lines and columns, and a syntax error names
// its position.
import { stripTypeScriptTypes } from 'node:module'
import { Script, constants } from 'node:vm'
import type { Browser, BrowserContext, Page } from 'playwright-core'

export type Code = (page: Page, context: BrowserContext, browser: Browser) => Promise<unknown>

const FILE = 'code.ts'
/** Lines before the code; its first line is still line 1. */
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
    // SAFETY: `whole` is a function with these parameters.
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
 * The stack of a syntax error begins with its position: `file:line`, or `:line` in `whole` if the type stripper found it.
 * The line itself follows, with a mark below it.
 */
function describe({ message, stack = '' }: SyntaxError): string {
  const lines = stack.split('\n')
  const [, file, lineText] = /^(.*):(\d+)$/.exec(lines[0]!) ?? []
  const mark = lines.find((line) => /^\s*\^+\s*$/.test(line))
  if (lineText === undefined || mark === undefined) return `SyntaxError: ${message}`
  const line = Number(lineText) - (file === FILE ? 0 : HEAD_LINES)
  return `SyntaxError: ${message} (line ${line}, column ${mark.indexOf('^') + 1})`
}
