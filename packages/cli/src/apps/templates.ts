import { usage } from '../basics/failure.ts'

export const LANGUAGES = ['typescript', 'python'] as const
export type Language = (typeof LANGUAGES)[number]

export interface Template {
  readonly about: string
  readonly action: string
}

export const TEMPLATES: Readonly<Record<string, Template>> = {
  hello: { about: 'an action that opens a page and answers with its title', action: 'hello' },
  screenshot: { about: 'a picture of a page', action: 'screenshot' },
  login: { about: 'a session with a profile that Berth keeps logged in', action: 'check' },
  crawl: { about: 'the pages of a site, with several tabs at once', action: 'crawl' },
}

const SHORT: Readonly<Record<string, Language>> = { ts: 'typescript', py: 'python' }

export function languageOf(text: string): Language {
  const found = SHORT[text] ?? LANGUAGES.find((each) => each === text)
  if (found === undefined)
    throw usage(`Cannot use the language "${text}"`, 'There are: typescript (ts), python (py)')
  return found
}
