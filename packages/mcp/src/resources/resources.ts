// What a client can read without a tool: files and recordings of sessions, and the lists of the reference under its own
// addresses.
import { Buffer } from 'node:buffer'
import type {
  BlobResourceContents,
  Resource,
  ResourceTemplateType,
  TextResourceContents,
} from '@modelcontextprotocol/server'
import { listApps } from '@berth/contracts/apps'
import { getAuthContext } from '@berth/contracts/auth-context'
import { getBrowserPool, listBrowserPools } from '@berth/contracts/browser-pools'
import { getBrowser, listBrowsers } from '@berth/contracts/browsers'
import { readFile } from '@berth/contracts/files'
import type { Operation } from '@berth/contracts/operation'
import { getProfile, listProfiles } from '@berth/contracts/profiles'
import { downloadReplay } from '@berth/contracts/replays'
import type { Api } from '../core/api.ts'
import { mayCall, type Caller } from '../core/caller.ts'
import { UNTRUSTED } from '../core/answer.ts'
import { visible } from '../core/text.ts'
import { fileUri } from './uris.ts'

/** Clients keep what they read in memory, in base64. */
const MAX_BYTES = 8 * 1024 * 1024
const PLACE = 'kernel://orgs/{organizationId}/projects/{projectId}'

interface Family {
  readonly path: string
  readonly variable: string
  readonly list: Operation
  readonly get?: Operation
  readonly param: string
  readonly title: string
}

const families: readonly Family[] = [
  {
    path: 'browsers',
    variable: 'sessionId',
    list: listBrowsers,
    get: getBrowser,
    param: 'id',
    title: 'Browser sessions',
  },
  {
    path: 'browser-pools',
    variable: 'idOrName',
    list: listBrowserPools,
    get: getBrowserPool,
    param: 'id',
    title: 'Browser pools',
  },
  {
    path: 'profiles',
    variable: 'profileName',
    list: listProfiles,
    get: getProfile,
    param: 'id_or_name',
    title: 'Profiles',
  },
  { path: 'apps', variable: 'appName', list: listApps, param: 'app_name', title: 'Apps' },
]

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: 'berth://sessions/{session}/files{+path}',
    name: 'file',
    title: 'File of a session',
    description: 'A file inside a browser session, by the name or id of the session and its absolute path',
  },
  {
    uriTemplate: 'berth://sessions/{session}/replays/{replayId}',
    name: 'replay',
    title: 'Recording of a session',
    description: 'The video of a recording that has ended',
    mimeType: 'video/mp4',
  },
  ...families.flatMap(({ path, variable, title }) => [
    { uriTemplate: `${PLACE}/${path}`, name: path, title, mimeType: 'application/json' },
    {
      uriTemplate: `${PLACE}/${path}/{${variable}}`,
      name: `${path}-one`,
      title,
      mimeType: 'application/json',
    },
  ]),
]

type Contents = TextResourceContents | BlobResourceContents

interface Reading {
  readonly api: Api
  readonly caller: Caller
}

/** The lists of the project that the connection works in. */
export async function listResources({ api, caller }: Reading): Promise<Resource[]> {
  const { organization, authorization } = await api.call(getAuthContext)
  const projectId = authorization.effective_scope.project_id
  if (projectId === null) return []
  const place = `kernel://orgs/${organization.id}/projects/${projectId}`
  return families
    .filter(({ list }) => mayCall(caller, list))
    .map(({ path, title }) => ({ uri: `${place}/${path}`, name: path, title, mimeType: 'application/json' }))
}

/** Undefined when there is no such resource. */
export async function readResource(uri: string, reading: Reading): Promise<Contents[] | undefined> {
  const [, session, kind, rest] = /^berth:\/\/sessions\/([^/]+)\/(files|replays)(\/.+)$/.exec(uri) ?? []
  if (session !== undefined && rest !== undefined) {
    const id = decodeURIComponent(session)
    const path = rest.split('/').map(decodeURIComponent).join('/')
    return [
      kind === 'files'
        ? await file(uri, { id, path }, reading)
        : await replay(uri, { id, replayId: path.slice(1) }, reading),
    ]
  }
  return ofReference(uri, reading)
}

async function file(
  uri: string,
  { id, path }: { id: string; path: string },
  { api }: Reading,
): Promise<Contents> {
  const response = await api.bytes(readFile, { params: { id }, query: { path } })
  const bytes = await bytesOf(response, `Cannot read ${path}`)
  const text = bytes.toString('utf8')
  const isText = !bytes.includes(0) && Buffer.from(text).equals(bytes)
  if (isText)
    return {
      uri: fileUri(id, path),
      mimeType: 'text/plain',
      text: visible(text),
      _meta: { [UNTRUSTED]: true },
    }
  return {
    uri,
    mimeType: 'application/octet-stream',
    blob: bytes.toString('base64'),
    _meta: { [UNTRUSTED]: true },
  }
}

async function replay(
  uri: string,
  { id, replayId }: { id: string; replayId: string },
  { api }: Reading,
): Promise<Contents> {
  const response = await api.bytes(downloadReplay, { params: { id, replay_id: replayId } })
  if (response.status === 202) {
    throw new Error(
      'Cannot read the recording: it still runs or is being prepared; stop it, and read it again a moment later',
    )
  }
  const bytes = await bytesOf(response, 'Cannot read the recording')
  return { uri, mimeType: 'video/mp4', blob: bytes.toString('base64') }
}

async function bytesOf(response: Response, cannot: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length
    if (size > MAX_BYTES) {
      throw new Error(
        `${cannot}: it has more than ${MAX_BYTES / 1024 / 1024} MB; read a part with manage_browser_files, or use the API`,
      )
    }
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks)
}

async function ofReference(uri: string, { api }: Reading): Promise<Contents[] | undefined> {
  const [, projectId, path, one] =
    /^kernel:\/\/orgs\/[^/]+\/projects\/([^/]+)\/([a-z-]+)(?:\/([^/]+))?$/.exec(uri) ?? []
  const family = families.find((each) => each.path === path)
  if (projectId === undefined || family === undefined) return undefined
  const inProject = api.with({ headers: { 'x-kernel-project-id': decodeURIComponent(projectId) } })
  const name = one === undefined ? undefined : decodeURIComponent(one)
  const found =
    name !== undefined && family.get
      ? await inProject.call(family.get, { params: { [family.param]: name } })
      : await inProject.call(family.list, {
          query: { limit: 100, ...(name !== undefined && { [family.param]: name }) },
        })
  const text = JSON.stringify(found, withoutTokens, 1)
  return [{ uri, mimeType: 'application/json', text }]
}

/** Addresses with tokens are for the tools that somebody calls on purpose. */
const withoutTokens = (key: string, value: unknown) => (key.endsWith('_ws_url') ? undefined : value)
