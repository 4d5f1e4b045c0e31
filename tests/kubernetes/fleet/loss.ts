// A server that is lost, and pages that must not be.
import { chromium } from 'playwright-core'
import { eventually } from '../../fixtures/host.ts'
import type { Session } from '../../fixtures/sessions.ts'
import type { Entrance, Pod } from './fleet.ts'
import { nodes, runOn } from './machine.ts'

/** As when the kernel of its node has no memory left. */
export function killServer({ spec, status }: Pod): void {
  const node = nodes.find(({ name }) => name === spec.nodeName)!
  const id = status.containerStatuses![0]!.containerID!.replace('containerd://', '')
  runOn(node, 'ctr', '--namespace=k8s.io', 'tasks', 'kill', '--signal=SIGKILL', '--all', id)
}

/** What the first page of a session computes, for a client that comes and goes. */
export async function ask(session: Session, expression: string): Promise<unknown> {
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  try {
    return await browser.contexts()[0]!.pages()[0]!.evaluate(expression)
  } finally {
    await browser.close()
  }
}

/** Through a server that may have to take the session over first. */
export async function askThrough(
  { url }: Entrance,
  session: Session,
  { expression, withinMs }: { expression: string; withinMs: number },
): Promise<unknown> {
  const moved = new URL(session.cdp_ws_url)
  moved.host = new URL(url).host
  let seen: unknown
  await eventually(
    `session ${session.session_id} answers with its page`,
    async () => {
      try {
        seen = await ask({ ...session, cdp_ws_url: moved.href }, expression)
        return true
      } catch {
        return false
      }
    },
    withinMs,
  )
  return seen
}
