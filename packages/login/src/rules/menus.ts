// Menus of languages, countries and currencies. They offer a choice, but none of the login. They are recognised by what
// the platform knows: the names of languages in themselves, `hreflang`, and addresses that differ in a language only.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import { isLanguageTag, localeNameOf, type LocaleName } from '../words/locales.ts'
import { caption, isClickable } from './element-words.ts'

/** Names that the platform does not know, between names that it knows. */
const MAX_GAP = 2
const MIN_ITEMS = 3
/** Two are enough if they are names and not codes: `OK` and `No` are codes too. */
const MIN_NAME_LENGTH = 4
const SETTING_ROLES = /^(menuitemradio|menuitemcheckbox|switch|tab)$/

export interface Menus {
  /** Refs of the items of menus of languages and currencies, and of other settings. */
  readonly settings: ReadonlySet<string>
  /** Refs of the items of menus of countries. A few websites ask for the country before the login. */
  readonly countries: ReadonlySet<string>
}

interface Item {
  readonly element: ElementSnapshot
  readonly name: LocaleName | undefined
  readonly isDeclared: boolean
}

export function menusOf(elements: readonly ElementSnapshot[], pageLanguage: string): Menus {
  const clickable = elements.filter((element) => isClickable(element) && element.is_visible)
  const variants = variantsOf(clickable)
  const items = clickable.map((element): Item => {
    const isDeclared = isForLanguage(element, pageLanguage) || variants.has(element)
    return {
      element,
      name: isDeclared ? 'language' : localeNameOf(caption(element), pageLanguage),
      isDeclared,
    }
  })
  const settings = new Set<string>()
  const countries = new Set<string>()
  for (const row of rowsOf(items)) {
    for (const run of runsOf(row)) {
      const isOfCountries = run.filter(({ name }) => name === 'country').length > run.length / 2
      for (const { element } of run) (isOfCountries ? countries : settings).add(element.ref)
    }
  }
  for (const { role, ref } of clickable) if (SETTING_ROLES.test(role)) settings.add(ref)
  return { settings, countries }
}

/** Controls of one kind at one place of the page, such as the links of one list. */
export function shapeOf({ tag, type, role, region, group, xpath }: ElementSnapshot): string {
  // An id is no place. Without indexes, the path is that of the whole list.
  const place = xpath.startsWith('//') ? '' : xpath.replaceAll(/\[\d+\]/g, '')
  return [tag, type, role, region, group, place].join(' ')
}

function rowsOf(items: readonly Item[]): Item[][] {
  const rows = new Map<string, Item[]>()
  for (const item of items) {
    const shape = shapeOf(item.element)
    rows.set(shape, [...(rows.get(shape) ?? []), item])
  }
  return [...rows.values()]
}

/** Parts of the row with nothing but names, or nearly. */
function runsOf(row: readonly Item[]): Item[][] {
  const runs: Item[][] = []
  let run: Item[] = []
  let gap: Item[] = []
  const end = () => {
    if (isMenu(run)) runs.push(run)
    run = []
    gap = []
  }
  for (const item of row) {
    if (item.name !== undefined) {
      run.push(...gap, item)
      gap = []
    } else if (run.length > 0) {
      gap.push(item)
      if (gap.length > MAX_GAP) end()
    }
  }
  end()
  return runs
}

function isMenu(run: readonly Item[]): boolean {
  const named = run.filter(({ name }) => name !== undefined)
  if (named.length < run.length / 2) return false
  if (named.length >= MIN_ITEMS) return true
  return (
    named.length > 0 &&
    named.every(({ element, isDeclared, name }) => {
      const isName =
        caption(element).length >= MIN_NAME_LENGTH || !/^[\p{Script=Latin}\p{P}\s]*$/u.test(caption(element))
      const isAside = /^(header|nav|footer)$/.test(element.region)
      return isDeclared || (isName && name === 'language' && (isAside || named.length > 1))
    })
  )
}

function isForLanguage({ data, tag }: ElementSnapshot, pageLanguage: string): boolean {
  if (tag !== 'a' && tag !== 'button') return false
  const { hreflang, lang } = Object.fromEntries(
    [...data.matchAll(/(?<![\w-])(hreflang|lang)=([\w-]+)/g)].map(([, name, value]) => [name, value]),
  ) as { hreflang?: string; lang?: string }
  const own = pageLanguage.split(/[-_]/, 1)[0]!.toLowerCase()
  return [hreflang, lang].some((each) => each !== undefined && !(own && each.toLowerCase().startsWith(own)))
}

/** Links whose addresses are the same except for a language. */
function variantsOf(elements: readonly ElementSnapshot[]): ReadonlySet<ElementSnapshot> {
  const byAddress = new Map<string, ElementSnapshot[]>()
  for (const element of elements) {
    const address = withoutLanguage(element.href)
    if (address !== undefined) byAddress.set(address, [...(byAddress.get(address) ?? []), element])
  }
  const several = [...byAddress.values()].filter(
    (each) => new Set(each.map(({ href }) => href)).size >= MIN_ITEMS,
  )
  return new Set(several.flat())
}

/** Undefined for an address without any language. */
function withoutLanguage(href: string): string | undefined {
  const url = URL.parse(href)
  if (!url) return undefined
  let isFound = false
  const star = (text: string) => {
    if (!isLanguageTag(text)) return text
    isFound = true
    return '*'
  }
  const path = url.pathname.split('/').map(star).join('/')
  const query = [...url.searchParams].map(([name, value]) => `${name}=${star(value)}`).join('&')
  return isFound ? `${url.origin}${path}?${query}` : undefined
}
