import { commaList } from './basic.ts'
import { SettingError } from './setting-error.ts'

export function labelValues(value: string): Record<string, string> {
  return Object.fromEntries(
    commaList(value).map((item) => {
      const [, label, wanted] = /^([^=\s]+)=([^=\s]*)$/.exec(item) ?? []
      if (label === undefined || wanted === undefined) {
        throw new SettingError(`must list label=value, but has "${item}"`)
      }
      return [label, wanted]
    }),
  )
}

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

const textFields = ['key', 'operator', 'value', 'effect']

export function tolerationList(value: string): Toleration[] {
  if (value === '') return []
  let list: unknown
  try {
    list = JSON.parse(value)
  } catch (error) {
    throw new SettingError(`must be a JSON list, but ${(error as Error).message}`)
  }
  if (!Array.isArray(list)) throw new SettingError('must be a JSON list')
  return list.map((item: unknown) => {
    const entries = typeof item === 'object' && item !== null ? Object.entries(item) : []
    const wrong = entries.find(([name, field]) =>
      name === 'tolerationSeconds'
        ? !Number.isInteger(field)
        : !textFields.includes(name) || typeof field !== 'string',
    )
    if (entries.length === 0 || wrong) {
      throw new SettingError(
        `must list objects with ${textFields.join(', ')} and tolerationSeconds, but has ${JSON.stringify(item).slice(0, 100)}`,
      )
    }
    // SAFETY: checked above.
    return item as Toleration
  })
}
