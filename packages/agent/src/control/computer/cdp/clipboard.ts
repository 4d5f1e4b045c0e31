// A headless Chromium keeps the clipboard in its own memory. Only a secure page with focus and permission can
// reach it. The agent's hidden page has all of these, and is not a tab of the session.
import type { CdpConnection } from '../../../cdp/cdp-connection.ts'
import { pause } from '@berth/kit/pause'
import { ControlError } from '../../calls/operation.ts'

/** A small built-in page that needs no network. */
const PAGE = 'chrome://version'
const OPEN_MS = 5_000
const LOOK_AGAIN_MS = 10

export async function readClipboard(cdp: CdpConnection): Promise<string> {
  return onHiddenPage(cdp, 'navigator.clipboard.readText()')
}

export async function writeClipboard(cdp: CdpConnection, text: string): Promise<void> {
  await onHiddenPage(cdp, `navigator.clipboard.writeText(${JSON.stringify(text)}).then(() => '')`)
}

async function onHiddenPage(cdp: CdpConnection, expression: string): Promise<string> {
  const { targetId } = await cdp.call<{ targetId: string }>('Target.createTarget', {
    url: PAGE,
    hidden: true,
    background: true,
  })
  try {
    const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    })
    const evaluate = async (code: string) => {
      const options = { expression: code, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await cdp.call<{
        result: { value: string }
        exceptionDetails?: { exception?: { description?: string } }
      }>('Runtime.evaluate', options, sessionId)
      if (!exceptionDetails) return result.value
      const why = exceptionDetails.exception?.description?.split('\n', 1)[0]
      throw new ControlError('conflict', `Cannot reach the clipboard: ${why ?? 'unknown reason'}`)
    }
    await Promise.all([
      cdp.call('Emulation.setFocusEmulationEnabled', { enabled: true }, sessionId),
      ...['clipboard-read', 'clipboard-write'].map((name) =>
        cdp.call('Browser.setPermission', { permission: { name }, setting: 'granted', origin: PAGE }),
      ),
    ])
    const deadline = performance.now() + OPEN_MS
    while (!(await evaluate('location.href')).startsWith(PAGE)) {
      if (performance.now() > deadline) throw new Error('The page for the clipboard does not open')
      await pause(LOOK_AGAIN_MS)
    }
    return await evaluate(expression)
  } finally {
    await cdp.call('Target.closeTarget', { targetId }).catch(() => {})
  }
}
