// Chromium on the instance's GPU.
import { readdirSync } from 'node:fs'
import { gpuEnvironment, gpuPaths, isSoftwareRenderer } from '@berth/contracts/gpu'
import type { CdpConnection } from '../cdp/cdp-connection.ts'

/** Of `SystemInfo.getInfo`. */
interface SystemInfo {
  readonly gpu?: { readonly auxAttributes?: { readonly glRenderer?: string; readonly displayType?: string } }
}

/** What Chromium needs in its environment to find the driver. */
export function environmentOnGpu(): Record<string, string> {
  return gpuEnvironment(readdirSync(gpuPaths.drivers))
}

/**
 * Rejects when Chromium does not render on the GPU. It would go on without one, and nobody would notice but by its
 * slowness.
 */
export async function checkGpu(cdp: Pick<CdpConnection, 'call'>): Promise<void> {
  const { gpu } = await cdp.call<SystemInfo>('SystemInfo.getInfo', {})
  const renderer = gpu?.auxAttributes?.glRenderer ?? ''
  if (renderer !== '' && !isSoftwareRenderer(renderer)) return
  throw new Error(
    `it does not render on the GPU (${renderer || 'no renderer'}): the GPU or its driver has failed since the server started`,
  )
}
