import type { CdpConnection } from '../../cdp/cdp-connection.ts'

/** Large ones have thousands of files, which are looked through. */
const LOAD_MS = 30_000

/** Resolves with its id. Rejects with what Chromium says about it. */
export async function loadUnpacked(cdp: CdpConnection, path: string): Promise<string> {
  // Also in the contexts that clients make, which are incognito ones.
  const params = { path, enableInIncognito: true }
  try {
    const { id } = await cdp.call<{ id: string }>('Extensions.loadUnpacked', params, undefined, LOAD_MS)
    return id
  } catch (error) {
    const why = (error as Error).message.replace(/^Cannot call Extensions\.loadUnpacked: /, '')
    throw new Error(`Chromium does not take it: ${why.replaceAll('\n', ' ')}`, { cause: error })
  }
}

export async function uninstall(cdp: CdpConnection, id: string): Promise<void> {
  await cdp.call('Extensions.uninstall', { id })
}
