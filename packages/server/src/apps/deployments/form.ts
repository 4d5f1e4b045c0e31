// The multipart form of a deployment, as published clients send it: text fields, names with brackets or, from the Go
// client, with dots for nested fields, and the archive, which is streamed to its store.
import type { GitSource } from '@berth/contracts/app-link'
import { REGION } from '@berth/contracts/apps'
import { MAX_ENV_VARS } from '@berth/contracts/deployments'
import { BadInput } from '@berth/kit/bad-input'
import { malformed, partsOf, readText } from '@berth/codecs/form/form'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { BodyStream } from '../../http/call.ts'
import { rememberIgnored } from '../../http/ignored-fields.ts'
import type { NewDeployment } from './types.ts'

const VERSION = /^[A-Za-z0-9._+-]{1,255}$/
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/
const PATH = /^[^\p{Cc}\\]{1,1024}$/u
const REF = /^(?!-)[^\p{Cc}\s~^:?*[\\]{1,255}$/u

export interface ReadForm<Kept> {
  readonly deployment: NewDeployment
  /** The stored archive, if there is one. */
  readonly kept: Kept | undefined
}

/** `keep` stores the archive. It is called at most once, and the caller must undo it on an error. */
export async function readDeploymentForm<Kept>(
  stream: BodyStream | undefined,
  keep: (content: AsyncIterable<Buffer>) => Promise<Kept>,
): Promise<ReadForm<Kept>> {
  if (!stream) throw new AppError('bad_request', malformed('it is missing').message)
  const fields = new Map<string, string>()
  const sentAsFiles = new Set<string>()
  let kept: Kept | undefined
  try {
    // Kept open when reading stops; otherwise the connection would close before the refusal is sent.
    const body = stream.body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
    for await (const part of partsOf(body, stream.headers['content-type'])) {
      if (part.name === 'file') {
        if (kept !== undefined) throw malformed('it has two files')
        kept = await keep(part.content)
      } else if (fields.has(part.name)) throw malformed(`"${part.name.slice(0, 100)}" is in it twice`)
      else {
        if (part.isFile) sentAsFiles.add(part.name)
        fields.set(part.name, await readText(part))
      }
    }
  } catch (error) {
    if (error instanceof BadInput) throw new AppError('bad_request', error.message, { cause: error })
    throw error
  }
  const deployment = toDeployment(fields, kept !== undefined)
  // What was not taken is unknown.
  const [file] = sentAsFiles.intersection(new Set(fields.keys()))
  if (file !== undefined) throw invalidInput(file.slice(0, 100), 'is not a field of a deployment')
  rememberIgnored(
    stream.body,
    [...fields.keys()].map((name) => [name]),
  )
  return { deployment, kept }
}

function toDeployment(fields: Map<string, string>, hasFile: boolean): NewDeployment {
  const take = (name: string) => {
    const value = fields.get(name)
    fields.delete(name)
    return value
  }
  const version = take('version') ?? 'latest'
  if (!VERSION.test(version)) {
    throw invalidInput('version', 'must be letters, digits, dot, dash, plus or underscore, at most 255')
  }
  const region = take('region')
  if (region !== undefined && region !== REGION) throw invalidInput('region', `must be "${REGION}"`)
  const force = take('force') ?? 'false'
  if (force !== 'true' && force !== 'false') throw invalidInput('force', 'must be true or false')
  const entrypoint = take('entrypoint_rel_path')
  const source = readSource(take, (name) => fields.set(`source[${name}]`, ''))
  const env = readEnv(fields)
  if (hasFile === (source !== undefined)) {
    throw invalidInput('file', 'must be given, or else source, and not both')
  }
  return {
    version,
    isForced: force === 'true',
    entrypoint: readPath('entrypoint_rel_path', source?.entrypoint ?? entrypoint),
    env,
    git: source?.git,
  }
}

function readEnv(fields: Map<string, string>): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(readEnvJson(fields))) fields.set(`env_vars[${name}]`, value)
  for (const [field, value] of fields) {
    const [, inBrackets, afterDot] = /^env_vars(?:\[(.*)\]|\.(.*))$/s.exec(field) ?? []
    const name = inBrackets ?? afterDot
    if (name === undefined) continue
    fields.delete(field)
    if (Object.hasOwn(env, name)) throw invalidInput('env_vars', `has "${name.slice(0, 100)}" twice`)
    if (!ENV_NAME.test(name)) {
      throw invalidInput('env_vars', `"${name.slice(0, 100)}" is not a valid name of an environment variable`)
    }
    if (value.includes('\0')) throw invalidInput('env_vars', `"${name}" must not have a null character`)
    env[name] = value
  }
  if (Object.keys(env).length > MAX_ENV_VARS) {
    throw invalidInput('env_vars', `must be at most ${MAX_ENV_VARS}`)
  }
  return env
}

/** Clients without an encoding of their own for maps send them as JSON. */
function readEnvJson(fields: Map<string, string>): Record<string, string> {
  const json = fields.get('env_vars')
  if (json === undefined) return {}
  fields.delete('env_vars')
  const value = parsed('env_vars', json)
  if (Object.values(value).some((each) => typeof each !== 'string')) {
    throw invalidInput('env_vars', 'must have texts as values')
  }
  return value as Record<string, string>
}

function parsed(field: string, json: string): object {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw invalidInput(field, 'must be JSON')
  }
  if (typeof value !== 'object' || value === null) throw invalidInput(field, 'must be an object')
  return value
}

interface Source {
  readonly entrypoint: string | undefined
  readonly git: GitSource
}

const sourceFields = ['type', 'url', 'ref', 'entrypoint', 'path', 'auth[method]', 'auth[token]'] as const

/** Reads `source` as JSON, or as fields in brackets or after dots. */
function readSource(
  take: (name: string) => string | undefined,
  ignore: (name: string) => void,
): Source | undefined {
  const given: Partial<Record<(typeof sourceFields)[number], string>> = {}
  const json = take('source')
  if (json !== undefined) Object.assign(given, flattened(json, ignore))
  for (const name of sourceFields) {
    const [outer, inner] = name.split('[')
    const spellings =
      inner === undefined
        ? [`source[${outer}]`, `source.${outer}`]
        : [`source[${outer}][${inner}`, `source.${outer}.${inner.slice(0, -1)}`]
    const value = spellings.map(take).find((each) => each !== undefined)
    if (value !== undefined) given[name] = value
  }
  if (Object.keys(given).length === 0) return undefined
  if (given.type !== 'github') throw invalidInput('source.type', 'must be "github"')
  if (given['auth[token]'] !== undefined && given['auth[method]'] !== 'github_token') {
    throw invalidInput('source.auth.method', 'must be "github_token"')
  }
  const token = given['auth[token]']
  if (token !== undefined && !/^[\x21-\x7e]{1,1024}$/.test(token)) {
    throw invalidInput('source.auth.token', 'must be visible ASCII characters')
  }
  return {
    entrypoint: given.entrypoint,
    git: {
      url: readUrl(given.url),
      ref: REF.test(given.ref ?? '')
        ? given.ref!
        : refuse('source.ref', 'must be a branch, a tag or a commit'),
      ...(given.path && { path: readPath('source.path', given.path) }),
      ...(token !== undefined && { token }),
    },
  }
}

function flattened(json: string, ignore: (name: string) => void): Record<string, string> {
  const { auth, ...rest } = parsed('source', json) as Record<string, unknown>
  const nested = Object.entries(auth ?? {}).map(([name, each]) => [`auth[${name}]`, each] as const)
  const flat: Record<string, string> = {}
  for (const [name, each] of [...Object.entries(rest), ...nested]) {
    if (!(sourceFields as readonly string[]).includes(name)) {
      ignore(name)
      continue
    }
    if (typeof each !== 'string') throw invalidInput(`source.${name}`, 'must be text')
    flat[name] = each
  }
  return flat
}

/** A user name or password in the URL would be shown with it. */
function readUrl(text = ''): string {
  const url = text.length <= 2048 ? URL.parse(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash || url.search) {
    throw invalidInput(
      'source.url',
      'must be an http or https URL without user name; use source.auth for a token',
    )
  }
  return url.href
}

function readPath(field: string, path: string | undefined): string {
  const parts = (path ?? '').replace(/^(\.\/)+/, '').split('/')
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..')
  if (path === undefined || !isPlain || !PATH.test(path)) {
    throw invalidInput(field, 'must be a path inside the source, such as src/app.ts')
  }
  return parts.join('/')
}

function refuse(field: string, message: string): never {
  throw invalidInput(field, message)
}
