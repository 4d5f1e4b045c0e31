// Language and time zone of a country, so that a browser matches its IP address.

export interface Surroundings {
  /** Such as de-DE. */
  readonly locale: string
  /** Such as Europe/Berlin. */
  readonly timezone: string
}

/** The time zone of most people, for countries with several. */
const mostPeople: Readonly<Record<string, string>> = {
  AR: 'America/Argentina/Buenos_Aires',
  AU: 'Australia/Sydney',
  BR: 'America/Sao_Paulo',
  CA: 'America/Toronto',
  CD: 'Africa/Kinshasa',
  CL: 'America/Santiago',
  CN: 'Asia/Shanghai',
  CY: 'Asia/Nicosia',
  DE: 'Europe/Berlin',
  EC: 'America/Guayaquil',
  ES: 'Europe/Madrid',
  FM: 'Pacific/Pohnpei',
  GL: 'America/Nuuk',
  ID: 'Asia/Jakarta',
  KI: 'Pacific/Tarawa',
  KZ: 'Asia/Almaty',
  MH: 'Pacific/Majuro',
  MN: 'Asia/Ulaanbaatar',
  MX: 'America/Mexico_City',
  MY: 'Asia/Kuala_Lumpur',
  NZ: 'Pacific/Auckland',
  PF: 'Pacific/Tahiti',
  PG: 'Pacific/Port_Moresby',
  PS: 'Asia/Hebron',
  PT: 'Europe/Lisbon',
  RU: 'Europe/Moscow',
  UA: 'Europe/Kyiv',
  US: 'America/New_York',
  UZ: 'Asia/Tashkent',
}

/** Countries where browsers usually use another language than the most common one. */
const maxBrowsers: Readonly<Record<string, string>> = { IN: 'en-IN', PH: 'en-PH', PK: 'en-PK' }

/** Undefined for an unknown country or one without a time zone. */
export function localeOf(country: string): Surroundings | undefined {
  const region = country.toUpperCase()
  if (!/^[A-Z]{2}$/.test(region)) return undefined
  const { language } = new Intl.Locale(`und-${region}`).maximize()
  const timezone = mostPeople[region] ?? timeZonesOf(region)[0]
  if (timezone === undefined) return undefined
  return { locale: maxBrowsers[region] ?? `${language}-${region}`, timezone }
}

function timeZonesOf(region: string): readonly string[] {
  // SAFETY: Node has ECMA-402's Intl.Locale Info, but TypeScript does not know it yet.
  const locale = new Intl.Locale(`und-${region}`) as Intl.Locale & { getTimeZones?: () => string[] }
  return locale.getTimeZones?.() ?? []
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return !/^[+-]/.test(name)
  } catch {
    return false
  }
}

/** Languages for which Chromium uses another name. */
const otherNames: Readonly<Record<string, string>> = { iw: 'he', in: 'id', nn: 'nb', no: 'nb', tl: 'fil' }

const languageOf = (locale: string) => locale.split('-', 1)[0]!.toLowerCase()

/** Whether a Chromium with these languages supports the locale, in any country. */
export function speaks(locales: ReadonlySet<string>, locale: string): boolean {
  const language = languageOf(locale)
  return [...locales].some((each) => languageOf(each) === (otherNames[language] ?? language))
}
