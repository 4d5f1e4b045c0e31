// The code that makes the same request, for TypeScript, Python and a shell.
import { curl } from '../../../parts/command.ts'

export const languages = ['TypeScript', 'Python', 'curl'] as const
export type Language = (typeof languages)[number]

export interface CodeOptions {
  readonly request: object
  readonly origin: string
  readonly projectId: string | undefined
}

/** Extensions of Berth: the published clients do not know them. */
const extensions = new Set([
  'locale',
  'timezone',
  'standby_after_seconds',
  'record',
  'proxy',
  'network',
  'region',
  'memory',
])

export function codeOf(language: Language, { request, origin, projectId }: CodeOptions): string {
  switch (language) {
    case 'TypeScript':
      return typescriptOf(request, origin, projectId)
    case 'Python':
      return pythonOf(request, origin, projectId)
    case 'curl':
      return curl({ projectId, path: '/browsers', body: request })
  }
}

function typescriptOf(request: object, origin: string, projectId: string | undefined): string {
  const needsCast = Object.keys(request).some((name) => extensions.has(name))
  const isEmpty = Object.keys(request).length === 0
  return [
    `import Kernel from '@onkernel/sdk'`,
    '',
    'const berth = new Kernel({',
    `  baseURL: ${inTypeScript(origin)},`,
    `  apiKey: process.env['BERTH_API_KEY'],`,
    ...(projectId === undefined
      ? []
      : [`  defaultHeaders: { 'X-Kernel-Project-Id': ${inTypeScript(projectId)} },`]),
    '})',
    // The client's types do not have the extensions of Berth.
    `const session = await berth.browsers.create(${isEmpty ? '' : inTypeScript(request)}${needsCast ? ' as object' : ''})`,
    'console.log(session.session_id)',
  ].join('\n')
}

function pythonOf(request: object, origin: string, projectId: string | undefined): string {
  const entries = Object.entries(request)
  const known = entries.filter(([name]) => !extensions.has(name))
  const extra = entries.filter(([name]) => extensions.has(name))
  const args = [
    ...known.map(([name, value]) => `    ${name}=${inPython(value, '    ')},`),
    ...(extra.length === 0 ? [] : [`    extra_body=${inPython(Object.fromEntries(extra), '    ')},`]),
  ]
  return [
    'import os',
    'from kernel import Kernel',
    '',
    'berth = Kernel(',
    `    base_url=${inPython(origin)},`,
    '    api_key=os.environ["BERTH_API_KEY"],',
    ...(projectId === undefined
      ? []
      : [`    default_headers={"X-Kernel-Project-Id": ${inPython(projectId)}},`]),
    ')',
    ...(args.length === 0
      ? ['session = berth.browsers.create()']
      : ['session = berth.browsers.create(', ...args, ')']),
    'print(session.session_id)',
  ].join('\n')
}

const NAME = /^[A-Za-z_$][\w$]*$/
/** A property of this name in a literal sets the prototype. */
const keyInTypeScript = (key: string) =>
  key === '__proto__' ? `['__proto__']` : NAME.test(key) ? key : textInTypeScript(key)

/** As JSON, with single quotes. */
function textInTypeScript(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inside}'`
}

function inTypeScript(value: unknown, indent = ''): string {
  if (typeof value === 'string') return textInTypeScript(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map((each) => inTypeScript(each, indent)).join(', ')}]`
  const inner = `${indent}  `
  const rows = Object.entries(value).map(
    ([key, each]) => `${inner}${keyInTypeScript(key)}: ${inTypeScript(each, inner)},`,
  )
  return rows.length === 0 ? '{}' : `{\n${rows.join('\n')}\n${indent}}`
}

/** What JSON writes as a text, Python reads as the same text. */
function inPython(value: unknown, indent = ''): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((each) => inPython(each, indent)).join(', ')}]`
  const inner = `${indent}    `
  const rows = Object.entries(value).map(
    ([key, each]) => `${inner}${JSON.stringify(key)}: ${inPython(each, inner)},`,
  )
  return rows.length === 0 ? '{}' : `{\n${rows.join('\n')}\n${indent}}`
}
