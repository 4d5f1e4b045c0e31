// Which server a command uses. A flag wins over the environment, and that over the current context.
import { Failure } from '../basics/failure.ts'
import { readContexts, type Contexts } from './store.ts'
import type { Server } from './server.ts'

export const DEFAULT_URL = 'http://127.0.0.1:8080'

export interface Choice {
  /** --context */
  readonly context?: string | undefined
  /** --project */
  readonly project?: string | undefined
  readonly env?: NodeJS.ProcessEnv
}

export async function chooseServer({ context, project, env = process.env }: Choice): Promise<Server> {
  return choose(await readContexts(), { context, project, env })
}

export function choose({ current, contexts }: Contexts, { context, project, env = {} }: Choice): Server {
  const url = env['KERNEL_BASE_URL'] || undefined
  const key = env['KERNEL_API_KEY'] || undefined
  const chosenProject = project ?? (env['KERNEL_PROJECT'] || undefined)
  const name = context ?? current
  const stored = name === undefined ? undefined : contexts[name]
  if (context !== undefined) {
    if (stored === undefined) throw unknownContext(context, contexts)
    return {
      url: addressOf(stored.url),
      key: stored.key,
      project: chosenProject ?? stored.project,
      from: `context ${context}`,
    }
  }
  if (url !== undefined || key !== undefined) {
    const address = addressOf(url ?? stored?.url ?? DEFAULT_URL)
    // The key of another server must not go there.
    const same = Object.entries(contexts).find(([, each]) => addressOf(each.url) === address)
    return {
      url: address,
      key: key ?? same?.[1].key,
      project: chosenProject ?? same?.[1].project,
      from: key === undefined && same ? `KERNEL_BASE_URL and context ${same[0]}` : 'environment',
    }
  }
  if (stored !== undefined) {
    return {
      url: addressOf(stored.url),
      key: stored.key,
      project: chosenProject ?? stored.project,
      from: `context ${name}`,
    }
  }
  return { url: DEFAULT_URL, key: undefined, project: chosenProject, from: 'default' }
}

export function unknownContext(name: string, contexts: Contexts['contexts']): Failure {
  const names = Object.keys(contexts)
  return new Failure(`Cannot find the context "${name}"`, {
    exitCode: 2,
    remedy:
      names.length > 0
        ? `There are: ${names.join(', ')}`
        : `There are none; add one with "berth login" or "berth context add"`,
  })
}

/** Without the slash at its end. */
export function addressOf(text: string): string {
  const given = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`
  let url: URL
  try {
    url = new URL(given)
  } catch {
    throw new Failure(`Cannot use "${text}" as the address of a server`, {
      exitCode: 2,
      remedy: `Write it like ${DEFAULT_URL}`,
    })
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Failure(
      `Cannot use "${text}" as the address of a server: it must start with http:// or https://`,
      {
        exitCode: 2,
      },
    )
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
