// The text of flags as values. Every error says which form is expected; the framework names the flag.
import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import type { ValueKind } from './rows.ts'

export type Parse = (text: string, previous: unknown) => unknown

/** Ids have this shape; names of extensions and telemetry destinations may not. */
const ID = /^[a-z][a-z0-9]{23}$/

export function parserOf(
  kind: ValueKind,
  { values }: { values?: readonly string[] | undefined } = {},
): Parse {
  switch (kind) {
    case 'string':
      return (text) => oneOf(text, values)
    case 'integer':
      return wholeNumber
    case 'number':
      return numberOf
    case 'boolean':
      return booleanOf
    case 'strings':
      return (text, previous) => [...listOf(previous), oneOf(text, values)]
    case 'comma-list':
      return (text, previous) => [...listOf(previous), ...text.split(',').filter(Boolean)]
    case 'map':
      return (text, previous) => ({ ...(previous as object | undefined), ...pairOf(text) })
    case 'null-map':
      return (text, previous) => ({ ...(previous as object | undefined), [text]: null })
    case 'json':
      return (text) => jsonOf(readText(text))
    case 'json-file':
      return (text) => jsonOf(readFile(text))
    case 'file-text':
      return (text) => readFile(text)
    case 'base64':
      return (text) => Buffer.from(text).toString('base64')
    case 'secret':
      return (text) => readText(text).replace(/\r?\n$/, '')
    case 'viewport':
      return viewportOf
    case 'point':
      return (text, previous) => [...listOf(previous), pointOf(text)]
    case 'extension':
      return (text, previous) => [...listOf(previous), referenceOf(text)]
    case 'telemetry':
      return telemetryOf
    case 'reference':
      return referenceOf
  }
}

const referenceOf = (text: string) => (ID.test(text) ? { id: text } : { name: text })

const listOf = (previous: unknown): unknown[] => (Array.isArray(previous) ? previous : [])

function oneOf(text: string, values: readonly string[] | undefined): string {
  if (values && !values.includes(text))
    throw new InvalidArgumentError(`It must be one of: ${values.join(', ')}`)
  return text
}

function wholeNumber(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number')
  return Number(text)
}

function numberOf(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number')
  return value
}

function booleanOf(text: string): boolean {
  if (text === 'true') return true
  if (text === 'false') return false
  throw new InvalidArgumentError('It must be true or false')
}

export function pairOf(text: string): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must be NAME=VALUE')
  return { [text.slice(0, at)]: text.slice(at + 1) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new InvalidArgumentError(`It must be JSON: ${(error as Error).message}`)
  }
}

/** The text itself, `@FILE`, or `-` for stdin. */
export function readText(text: string): string {
  if (text === '-') return readFile(text)
  return text.startsWith('@') ? readFile(text.slice(1)) : text
}

export function readFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    throw new InvalidArgumentError(`Cannot read ${path}: ${(error as Error).message}`)
  }
}

function viewportOf(text: string): unknown {
  if (text.startsWith('{')) return jsonOf(text)
  const match = /^(\d{1,5})x(\d{1,5})(?:@(\d{1,3}))?$/i.exec(text)
  if (!match) throw new InvalidArgumentError('It must be like 1280x800 or 1280x800@60')
  const [, width, height, rate] = match
  return { width: Number(width), height: Number(height), ...(rate && { refresh_rate: Number(rate) }) }
}

function pointOf(text: string): [number, number] {
  const match = /^(-?\d{1,6}),(-?\d{1,6})$/.exec(text)
  if (!match) throw new InvalidArgumentError('It must be like 100,200')
  return [Number(match[1]), Number(match[2])]
}

/** What people mean by everything; small pictures are only taken when they are named. */
const ALL_CATEGORIES = ['console', 'interaction', 'network', 'page']

/** `all`, `off`, or names of categories, with commas between them. `enabled` adds those that cost little. */
function telemetryOf(text: string): unknown {
  if (text.startsWith('{')) return jsonOf(text)
  if (text === 'off') return { enabled: false }
  const names = text === 'all' ? ALL_CATEGORIES : text.split(',').filter(Boolean)
  if (names.length === 0)
    throw new InvalidArgumentError('It must be all, off, or categories like console,network')
  return { enabled: true, browser: Object.fromEntries(names.map((name) => [name, { enabled: true }])) }
}
