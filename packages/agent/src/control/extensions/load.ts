import type { CdpConnection } from '../../cdp/cdp-connection.ts'

/** Chromium looks through all files, and large extensions have thousands. */
const LOAD_MS = 30_000

/** Resolves with the id of the extension. Rejects with Chromium's error. */
export async function loadUnpacked(cdp: CdpConnection, path: string): Promise<string> {
  // Incognito too, because the contexts that clients create are incognito.
  const params = { path, enableInIncognito: true }
  try {
    const { id } = await cdp.call<{ id: string }>('Extensions.loadUnpacked', params, undefined, LOAD_MS)
    return id
  } catch (error) {
    const why = (error as Error).message.replace(/^Cannot call Extensions\.loadUnpacked: /, '')
    throw new Error(`Chromium refuses it: ${why.replaceAll('\n', ' ')}`, { cause: error })
  }
}

export async function uninstall(cdp: CdpConnection, id: string): Promise<void> {
  await cdp.call('Extensions.uninstall', { id })
}
