// Selects the captured categories from a request. There are two API styles. In the opt-out style of api.md, any config
// turns on the four browser categories except those it turns off. In the opt-in style, which clients use from 0.64 on,
// a few cheap categories are the default and clients opt in to others. Only opt-in has `enabled` and `export`, so a
// request with one of these fields is opt-in.
import type { IncomingHttpHeaders } from 'node:http'
import type { TelemetryConfig, TelemetryRequest } from '@berth/contracts/telemetry'
import {
  categories,
  cdpCategories,
  operationalCategories,
  type Category,
} from '@berth/contracts/telemetry-events'
import { invalidInput } from '../../platform/errors/app-error.ts'

/** Null captures nothing. */
export type Selection = readonly Category[] | null

export type Age = 'opt-out' | 'opt-in'

const FIRST_OPT_IN_MINOR = 64

export function ageOf(headers: IncomingHttpHeaders): Age {
  const version = /^(\d{1,4})\.(\d{1,4})\./.exec(String(headers['x-stainless-package-version']))
  if (!version) return 'opt-out'
  const [, major, minor] = version
  return Number(major) > 0 || Number(minor) >= FIRST_OPT_IN_MINOR ? 'opt-in' : 'opt-out'
}

export interface Asked {
  readonly request: TelemetryRequest | null | undefined
  readonly age: Age
}

export function selectAtCreation({ request, age }: Asked): Selection {
  if (!request) return null
  const { enabled, browser } = checked(request)
  if (enabled === false) return null
  if (ageFor(request, age) === 'opt-out') return chosen(new Set(cdpCategories), browser)
  if (enabled === undefined && browser === undefined) return null
  return chosen(new Set(operationalCategories), browser)
}

/** Undefined when the selection stays as it is. */
export function selectAtUpdate({ request, age }: Asked, current: Selection): Selection | undefined {
  if (!request) return undefined
  const { enabled, browser } = checked(request)
  if (enabled === false) return null
  if (enabled === undefined && browser === undefined) return undefined
  const isOptIn = ageFor(request, age) === 'opt-in'
  const fresh = isOptIn ? operationalCategories : cdpCategories
  const isNew = current === null || enabled === true || (!isOptIn && Object.keys(browser ?? {}).length === 0)
  return chosen(new Set<Category>(isNew ? fresh : current), browser)
}

/** Opt-out clients know four categories, and see others only if they are on. */
export function shownTelemetry(
  selection: Selection,
  age: Age,
  destination: string | null = null,
): TelemetryConfig | undefined {
  if (selection === null) return undefined
  const known: readonly Category[] = age === 'opt-in' ? categories : cdpCategories
  const shown = categories.filter((category) => known.includes(category) || selection.includes(category))
  return {
    browser: Object.fromEntries(
      shown.map((category) => [category, { enabled: selection.includes(category) }]),
    ),
    ...(destination !== null && { export: { otlp: { enabled: true, destination } } }),
  }
}

function checked(request: TelemetryRequest): TelemetryRequest {
  if (request.enabled === false && request.browser !== undefined) {
    throw invalidInput('telemetry', 'cannot have enabled: false together with browser')
  }
  return request
}

function ageFor({ enabled, export: exported }: TelemetryRequest, age: Age): Age {
  return enabled === undefined && exported === undefined ? age : 'opt-in'
}

function chosen(from: ReadonlySet<Category>, browser: TelemetryRequest['browser'] = {}): Selection {
  const selection = categories.filter((category) => {
    const given = browser[category]
    // A named category is on unless it says otherwise.
    return given ? (given.enabled ?? true) : from.has(category)
  })
  return selection.length > 0 ? selection : null
}
