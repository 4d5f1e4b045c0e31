// The request that a draft stands for. It has only what differs from the defaults, so that its code stays short.
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import { categories, operationalCategories, type Category } from '@berth/contracts/telemetry-events'
import { wordsOf } from '../../../parts/texts.ts'
import type { Draft } from './draft.ts'

export interface Drafted {
  readonly request: CreateBrowserRequest
  /** What the page itself sees, by the path of the field. */
  readonly problems: Readonly<Record<string, string>>
}

export function requestOf(draft: Draft): Drafted {
  const problems: Record<string, string> = {}
  const number = (path: string, text: string): number | undefined => {
    if (text.trim() === '') return undefined
    const value = Number(text)
    if (Number.isInteger(value)) return value
    problems[path] = 'must be a whole number'
    return undefined
  }
  const [width, height, refreshRate, timeout, standby] = [
    number('viewport.width', draft.width),
    number('viewport.height', draft.height),
    number('viewport.refresh_rate', draft.refreshRate),
    number('timeout_seconds', draft.timeoutSeconds),
    number('standby_after_seconds', draft.standbyAfterSeconds),
  ]
  if ((width === undefined) !== (height === undefined))
    problems['viewport'] = 'the size needs a width and a height'
  else if (width === undefined && refreshRate !== undefined)
    problems['viewport'] = 'the size needs a width and a height with the refresh rate'
  const policy = policyOf(draft.chromePolicy, problems)
  const request: CreateBrowserRequest = {
    ...textOf('name', draft.name),
    ...tagsOf(draft.tags),
    ...textOf('start_url', draft.startUrl),
    ...(draft.headless && { headless: true }),
    ...(draft.stealth && { stealth: true }),
    ...(draft.gpu && !draft.headless && { gpu: true }),
    ...(draft.kioskMode && { kiosk_mode: true }),
    ...(timeout !== undefined && { timeout_seconds: timeout }),
    ...(standby !== undefined && { standby_after_seconds: standby }),
    ...(width !== undefined &&
      height !== undefined && {
        viewport: { width, height, ...(refreshRate !== undefined && { refresh_rate: refreshRate }) },
      }),
    ...textOf('locale', draft.locale),
    ...textOf('timezone', draft.timezone),
    ...recordOf(draft, number),
    ...telemetryOf(draft),
    ...profileOf(draft),
    ...(draft.extensions.length > 0 && { extensions: draft.extensions.map((id) => ({ id })) }),
    ...proxyOf(draft.proxy),
    ...(draft.hasPrivateHosts && { network: { private_hosts: wordsOf(draft.privateHosts) } }),
    ...textOf('region', draft.region),
    ...(draft.memory !== '' && { memory: draft.memory as NonNullable<CreateBrowserRequest['memory']> }),
    ...(policy && { chrome_policy: policy }),
  }
  return { request, problems }
}

function textOf<Name extends string>(name: Name, text: string): Partial<Record<Name, string>> {
  const trimmed = text.trim()
  return trimmed === '' ? {} : ({ [name]: trimmed } as Record<Name, string>)
}

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

export function tagsOf(text: string): { tags?: Record<string, string> } {
  const pairs = lines(text).map((line) => {
    const at = line.indexOf('=')
    return at === -1 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  return pairs.length === 0 ? {} : { tags: Object.fromEntries(pairs) as Record<string, string> }
}

function recordOf(
  { record, framerate, maxDuration }: Draft,
  number: (path: string, text: string) => number | undefined,
): Pick<CreateBrowserRequest, 'record'> {
  if (!record) return {}
  const rate = number('record.framerate', framerate)
  const seconds = number('record.max_duration_in_seconds', maxDuration)
  if (rate === undefined && seconds === undefined) return { record: true }
  return {
    record: {
      ...(rate !== undefined && { framerate: rate }),
      ...(seconds !== undefined && { max_duration_in_seconds: seconds }),
    },
  }
}

const isOnByDefault = (category: Category) =>
  (operationalCategories as readonly Category[]).includes(category)

function telemetryOf(draft: Draft): Pick<CreateBrowserRequest, 'telemetry'> {
  if (draft.telemetry === 'default') return {}
  if (draft.telemetry === 'off') return { telemetry: { enabled: false } }
  const changed = categories.filter(
    (category) => draft.categories.includes(category) !== isOnByDefault(category),
  )
  const browser = Object.fromEntries(
    changed.map((category) => [category, { enabled: draft.categories.includes(category) }]),
  )
  return { telemetry: { enabled: true, ...(changed.length > 0 && { browser }) } }
}

/** Ids of profiles look like this; names may, too, but the server then finds the id first. */
const ID = /^[a-z][a-z0-9]{23}$/

function profileOf({ profile, saveChanges, keepsOther }: Draft): Pick<CreateBrowserRequest, 'profile'> {
  const trimmed = profile.trim()
  if (trimmed === '') return {}
  return {
    profile: {
      ...(ID.test(trimmed) ? { id: trimmed } : { name: trimmed }),
      ...(saveChanges && { save_changes: true }),
      ...(saveChanges && keepsOther && { on_conflict: 'keep' as const }),
    },
  }
}

function proxyOf(chosen: string): Pick<CreateBrowserRequest, 'proxy'> {
  if (chosen === '') return {}
  const value = chosen.slice(chosen.indexOf(':') + 1)
  if (chosen.startsWith('id:')) return { proxy: { id: value } }
  return { proxy: { mode: value === 'direct' ? 'direct' : 'default' } }
}

function policyOf(text: string, problems: Record<string, string>): Record<string, unknown> | undefined {
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
    problems['chrome_policy'] = 'must be a JSON object'
  } catch (error) {
    problems['chrome_policy'] = `is not JSON: ${(error as Error).message}`
  }
  return undefined
}
