import type { Response } from '@berth/contracts/operation'
import type { invokeWebMcpTool } from '@berth/contracts/webmcp'
import type { CdpEvent } from '../../cdp/cdp-connection.ts'
import type { Chromium } from '../../chromium/chromium.ts'
import { ControlError } from '../calls/operation.ts'
import { Announced, attach, type AttachedPage } from './attached-page.ts'
import { decodeRef, type ToolRef } from './tool-ref.ts'

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024
const MAX_ERROR_LENGTH = 64 * 1024
/** A form that only somebody else submits answers not at all, or at once with an error. */
const FILLED_MS = 1_000

export interface Invocation {
  readonly ref: string
  readonly input: object
  readonly timeoutMs: number
  /** Fires when the caller has left; then the tool is canceled. */
  readonly signal: AbortSignal
}

type Answer = Response<typeof invokeWebMcpTool>
type Outcome = Omit<Answer, 'invocation_id'>

/** As the protocol documents it. */
interface Responded {
  readonly invocationId: string
  readonly status: string
  readonly output?: unknown
  readonly errorText?: string
  readonly exception?: { readonly description?: string }
}

const statuses: Readonly<Record<string, Outcome['status']>> = {
  Completed: 'completed',
  Canceled: 'canceled',
  Error: 'error',
}

export async function invoke(
  chromium: Pick<Chromium, 'openCdp'>,
  { ref, input, timeoutMs, signal }: Invocation,
): Promise<Answer> {
  const wanted = decodeRef(ref)
  if (!wanted)
    throw new ControlError('bad_request', 'Cannot invoke the tool: "tool_ref" is not from the list')
  const announced = new Announced()
  const responses = new Map<string, Responded>()
  const { promise: ended, resolve } = Promise.withResolvers<Outcome>()
  let invocationId: string | undefined
  const take = (event: CdpEvent) => {
    announced.take(event)
    if (event.method === 'WebMCP.toolResponded') {
      // SAFETY: Chromium's events follow its protocol; a wrong one harms this instance only.
      const response = event.params as unknown as Responded
      if (response.invocationId === invocationId) resolve(toOutcome(response))
      else if (invocationId === undefined) responses.set(response.invocationId, response)
    }
    if (event.method === 'Target.detachedFromTarget') resolve(failed('The page was closed'))
  }
  using cdp = await chromium.openCdp(take).catch((error: unknown) => {
    const { message } = error as Error
    throw new ControlError('unavailable', `Cannot invoke the tool: ${message}`, { cause: error })
  })
  void cdp.closed.then(() => resolve(failed('Chromium has ended')))
  const page = await attach(cdp, announced, wanted.targetId).catch((error: unknown) => {
    const message = 'Cannot invoke the tool: its page is closed, or does not answer; list the tools again'
    throw new ControlError('not_found', message, { cause: error })
  })
  const isForm = isUnsubmittedForm(page, wanted)
  signal.throwIfAborted()
  const { sessionId } = page
  const asked = { frameId: wanted.frameId, toolName: wanted.name, input }
  const begun = await cdp
    .call<{ invocationId: string }>('WebMCP.invokeTool', asked, sessionId)
    .catch((error: unknown) => {
      throw new ControlError('not_found', `${NOT_THERE} (${(error as Error).message})`, { cause: error })
    })
  ;({ invocationId } = begun)
  const early = responses.get(invocationId)
  if (early) resolve(toOutcome(early))
  const cancel = (outcome: Outcome) => {
    cdp.dispatch('WebMCP.cancelInvocation', { invocationId }, sessionId)
    resolve(outcome)
  }
  const timer = setTimeout(
    () => cancel({ status: 'canceled', error_text: `The tool did not answer within ${timeoutMs}ms` }),
    timeoutMs,
  )
  const waiting = isForm
    ? setTimeout(() => resolve({ status: 'awaiting_submission' }), Math.min(FILLED_MS, timeoutMs))
    : undefined
  const onGone = () => cancel({ status: 'canceled' })
  signal.addEventListener('abort', onGone)
  try {
    return { invocation_id: invocationId, ...(await ended) }
  } finally {
    clearTimeout(timer)
    clearTimeout(waiting)
    signal.removeEventListener('abort', onGone)
  }
}

const NOT_THERE = 'Cannot invoke the tool: the page does not offer it any more; list the tools again'

function isUnsubmittedForm(page: AttachedPage, { frameId, origin, name }: ToolRef): boolean {
  const tool = page.tools.find((each) => each.frameId === frameId && each.name === name)
  if (!tool || page.frames.get(frameId)?.securityOrigin !== origin) {
    throw new ControlError('not_found', NOT_THERE)
  }
  return tool.backendNodeId !== undefined && tool.annotations?.autosubmit !== true
}

function toOutcome({ status: given, output, errorText, exception }: Responded): Outcome {
  const status = statuses[given] ?? 'error'
  if (status !== 'completed') {
    const text = errorText || exception?.description?.split('\n', 1)[0]
    return { status, ...(text && { error_text: text.slice(0, MAX_ERROR_LENGTH) }) }
  }
  if (Buffer.byteLength(JSON.stringify(output ?? null)) > MAX_OUTPUT_BYTES) {
    return failed(`The tool answered with more than ${MAX_OUTPUT_BYTES} bytes of JSON`)
  }
  return { status, ...(output !== undefined && { output }) }
}

const failed = (text: string): Outcome => ({ status: 'error', error_text: text })
