// Values as people read them.
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'string') return TIME.test(value) ? localTime(value) : clean(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(itemText).join(', ')
  if (typeof value === 'object') return objectText(value as Record<string, unknown>)
  return '-'
}

function objectText(value: Record<string, unknown>): string {
  const entries = Object.entries(value)
  if (entries.length === 0) return '-'
  return entries.map(([name, each]) => `${name}=${itemText(each)}`).join(' ')
}

function itemText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return clean(JSON.stringify(value))
  return textOf(value)
}

/** Names and titles may come from a web page: its control characters must not reach the terminal. */
export function clean(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, ' ')
}

const two = (value: number) => String(value).padStart(2, '0')

/** Like `2026-11-19 14:03:05 CET`. */
export function localTime(text: string): string {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) return text
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  const zone = date.toLocaleTimeString('en', { timeZoneName: 'short' }).split(' ').at(-1)
  return `${day} ${time} ${zone}`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1]
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

/** Keeps lines, tabs and colours, and nothing else that a terminal obeys. */
export function harmless(text: string): string {
  return text.replaceAll(CONTROL, (found) => (COLOUR.test(found) ? found : ''))
}

// eslint-disable-next-line no-control-regex
const CONTROL = /\u001b\[[0-9;]*m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
// eslint-disable-next-line no-control-regex
const COLOUR = /^\u001b\[[0-9;]*m$/
