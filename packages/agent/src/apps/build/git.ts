// Fetches the source from a repository: one commit, without the history.
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import type { GitSource } from '@berth/contracts/app-link'
import type { Places } from '../workers/places.ts'
import { BuildFailed, lines } from './program.ts'

export interface FetchOptions {
  readonly source: GitSource
  readonly places: Places
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export async function* fetchSource({ source, places, env, signal }: FetchOptions): AsyncGenerator<string> {
  const { url, ref, path, token } = source
  const clone = join(places.home, '.berth-clone')
  await rm(clone, { recursive: true, force: true })
  await mkdir(clone)
  const run = (what: string, ...args: string[]) =>
    lines(what, {
      command: ['/usr/bin/git', ...args],
      cwd: clone,
      env: { ...env, ...gitEnvironment(url, token) },
      signal,
    })
  yield `Fetching ${ref} of ${url}`
  yield* run('fetch the repository', 'init', '--quiet')
  // After `--`, so that neither can be taken for an option.
  yield* run('fetch the repository', 'fetch', '--quiet', '--depth', '1', '--', url, ref)
  yield* run('check it out', 'checkout', '--quiet', '--detach', 'FETCH_HEAD')
  await rm(join(clone, '.git'), { recursive: true, force: true })
  const from = resolve(clone, path ?? '.')
  const isInside = from === clone || from.startsWith(clone + sep)
  if (!isInside || !(await stat(from).catch(() => undefined))?.isDirectory()) {
    throw new BuildFailed(`Cannot find the directory "${path}" in the repository`)
  }
  await rm(places.root, { recursive: true, force: true })
  await rename(from, places.root)
  await rm(clone, { recursive: true, force: true })
}

/** Never asks for a password, allows no other protocol, and sends the token to that address only. */
function gitEnvironment(url: string, token: string | undefined): Record<string, string> {
  const header = token && `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  return {
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'http:https',
    GIT_CONFIG_NOSYSTEM: '1',
    ...(header && {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${url}.extraHeader`,
      GIT_CONFIG_VALUE_0: header,
    }),
  }
}
