// Names of languages, countries and currencies, as menus show them. The platform knows them, so there is no list here.
import { fold } from './match.ts'

export type LocaleName = 'language' | 'country' | 'currency'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.split('')
const TAG = /^[a-z]{2,3}([-_][a-z]{2,4}){0,2}$/

interface Names {
  readonly language: ReadonlySet<string>
  readonly country: ReadonlySet<string>
  readonly currency: ReadonlySet<string>
  readonly languageCodes: ReadonlySet<string>
}

// Made when first needed, because it asks for some thousand names.
let made: Names | undefined

function names(): Names {
  if (made) return made
  const pairs = LETTERS.flatMap((one) => LETTERS.map((other) => one + other))
  const language = english('language')
  const codes = pairs.filter((code) => language(code) !== undefined)
  const region = english('region')
  const countries = pairs
    .map((code) => code.toUpperCase())
    .filter((code) => !/^(ZZ|EU|UN|XA|XB)$/.test(code) && region(code) !== undefined)
  const currencies = Intl.supportedValuesOf('currency')
  return (made = {
    // Menus name a language in itself or in English.
    language: new Set(codes.flatMap((code) => [fold(language(code)!), ...nameIn(code, 'language', code)])),
    country: new Set(countries.map((code) => fold(region(code)!))),
    currency: new Set(currencies.flatMap((code) => [code.toLowerCase(), ...nameIn('en', 'currency', code)])),
    languageCodes: new Set(codes),
  })
}

type Kind = 'language' | 'region' | 'currency'

function nameIn(locale: string, type: Kind, code: string): string[] {
  const name = new Intl.DisplayNames(locale, { type, fallback: 'none' }).of(code)
  return name === undefined ? [] : [fold(name)]
}

function english(type: Kind): (code: string) => string | undefined {
  const display = new Intl.DisplayNames('en', { type, fallback: 'none' })
  return (code) => display.of(code)
}

/** Whether the text is such a name and nothing else: `Português (Brasil)`, `DE`, `EUR €`. */
export function localeNameOf(text: string, pageLanguage = ''): LocaleName | undefined {
  const { language, country, currency } = names()
  // Flags, signs of currencies and ticks stand beside the names.
  const bare = fold(
    text.replaceAll(/\p{So}|\p{Sc}|\p{Sk}|\p{Cf}|\ufe0f|•/gu, ' ').replaceAll(/[()[\]/|,–—·]| - /g, ' , '),
  )
  const parts = bare
    .split(',')
    .map((part) => part.replace(/^[\s-]+|[\s-]+$/g, ''))
    .filter(Boolean)
  const [first] = parts
  if (first === undefined || parts.length > 3 || bare.length > 60) return undefined
  if (language.has(first) || isLanguageTag(first)) return 'language'
  if (country.has(first) || isCountryIn(pageLanguage, first)) return 'country'
  const words = first.split(/[\s-]+/)
  return currency.has(first) || (words.length <= 4 && currency.has(words[0]!)) || currency.has(words.at(-1)!)
    ? 'currency'
    : undefined
}

/** `de`, `pt-br`. Words of two letters are codes only among others; see menus. */
export function isLanguageTag(text: string): boolean {
  const tag = text.toLowerCase()
  return TAG.test(tag) && tag.length !== 3 && names().languageCodes.has(tag.split(/[-_]/, 1)[0]!)
}

const byLanguage = new Map<string, ReadonlySet<string>>()
const MAX_LANGUAGES = 50

function isCountryIn(language: string, name: string): boolean {
  const [code = ''] = language.toLowerCase().split(/[-_]/, 1)
  if (!names().languageCodes.has(code) || code === 'en') return false
  let known = byLanguage.get(code)
  if (!known) {
    const display = new Intl.DisplayNames(code, { type: 'region', fallback: 'none' })
    const all = LETTERS.flatMap((one) => LETTERS.map((other) => display.of((one + other).toUpperCase())))
    known = new Set(all.flatMap((each) => (each === undefined ? [] : [fold(each)])))
    if (byLanguage.size >= MAX_LANGUAGES) byLanguage.clear()
    byLanguage.set(code, known)
  }
  return known.has(name)
}
