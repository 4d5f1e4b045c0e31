// Mouse and keyboard by coordinates, on the screen of the session.
import { Buffer } from 'node:buffer'
import { Type } from 'typebox'
import { getBrowser } from '@berth/contracts/browsers'
import * as contract from '@berth/contracts/computer'
import { OneOf } from '@berth/contracts/schema'
import { data, facts, image, words, type Answer } from '../core/answer.ts'
import { ToolFailure } from '../core/run.ts'
import { visible } from '../core/text.ts'
import { tool, type Args, type Context } from '../core/tool.ts'
import { sessionId } from '../page/fields.ts'

const MAX_ACTIONS = 100
/** A PNG of a large screen; above it, clients refuse the answer. */
const MAX_PICTURE_BYTES = 4 * 1024 * 1024

const written = [
  'click_mouse',
  'move_mouse',
  'type_text',
  'press_key',
  'scroll',
  'drag_mouse',
  'set_cursor',
  'sleep',
  'write_clipboard',
] as const
const read = ['read_clipboard', 'screenshot', 'get_mouse_position'] as const

type Written = (typeof written)[number]

const batched = new Set<string>(written.filter((name) => name !== 'write_clipboard'))

interface ActionInput {
  readonly type: Written | (typeof read)[number]
  readonly [name: string]: unknown
}

const fields = (description: string) =>
  Type.Optional(Type.Object({}, { additionalProperties: true, description }))

const action = Type.Object(
  {
    type: OneOf([...written, ...read] as const, {
      description: 'The action. The field of the same name has its parameters',
    }),
    click_mouse: fields(
      'x, y, button (left, right, middle), click_type (click, down, up), num_clicks, hold_keys',
    ),
    move_mouse: fields('x, y, smooth, duration_ms, hold_keys'),
    type_text: fields('text, delay, smooth'),
    press_key: fields('keys such as ["ctrl+a"] or ["Return"], duration, hold_keys'),
    scroll: fields('x, y, delta_x, delta_y in ticks of the wheel; positive is right and down'),
    drag_mouse: fields('path as [[x, y], [x, y]], button, hold_keys'),
    set_cursor: fields('hidden'),
    sleep: fields('duration_ms'),
    write_clipboard: fields('text'),
    screenshot: fields('region with x, y, width, height'),
  },
  { additionalProperties: false },
)

async function perform(actions: readonly ActionInput[], args: Args, { api }: Context): Promise<void> {
  const params = { id: args.session_id as string }
  let waiting: object[] = []
  const flush = async () => {
    if (waiting.length > 0) {
      // The API checks the fields of each, and names the wrong one.
      const body = { actions: waiting }
      await api.call(contract.batchComputerActions, { params, body, workSeconds: 120 })
    }
    waiting = []
  }
  for (const each of actions) {
    if (batched.has(each.type)) {
      waiting.push({ type: each.type, [each.type]: each[each.type] ?? {} })
      continue
    }
    await flush()
    const body = each[each.type] ?? {}
    await api.call(contract.writeClipboard, { params, body })
  }
  await flush()
}

async function readLast(last: ActionInput, args: Args, context: Context): Promise<Answer> {
  const { api, secrets } = context
  const params = { id: args.session_id as string }
  switch (last.type) {
    case 'read_clipboard': {
      const { text } = await api.call(contract.readClipboard, { params })
      return [data(secrets.mask(visible(text)), 'the clipboard of the session')]
    }
    case 'get_mouse_position':
      return [facts(await api.call(contract.getMousePosition, { params }))]
    default: {
      const body = last['screenshot'] ?? {}
      const [session, response] = await Promise.all([
        api.call(getBrowser, { params }),
        api.bytes(contract.captureScreenshot, { params, body }),
      ])
      const picture = Buffer.from(await response.arrayBuffer())
      const { width, height } = session.viewport ?? {}
      const size = width === undefined ? [] : [words(`Viewport: ${width}x${height}`)]
      if (picture.length > MAX_PICTURE_BYTES) {
        throw new ToolFailure(
          'Cannot send the screenshot: it is too large; give a smaller region [code: payload_too_large]',
        )
      }
      return [...size, image(picture.toString('base64'), 'image/png')]
    }
  }
}

export const computerAction = tool({
  name: 'computer_action',
  title: 'Mouse, keyboard and screen',
  toolset: 'computer',
  description:
    'Performs actions by coordinates of the screen, in this order. screenshot, read_clipboard and get_mouse_position may only be the last. Where a page has elements, the browser_ tools are surer.',
  input: {
    session_id: sessionId,
    actions: Type.Array(action, { minItems: 1, maxItems: MAX_ACTIONS, description: 'The actions' }),
  },
  needs: [
    contract.batchComputerActions,
    contract.writeClipboard,
    contract.readClipboard,
    contract.captureScreenshot,
    contract.getMousePosition,
    getBrowser,
  ],
  run: async (args: Args, context) => {
    const actions = args.actions as readonly ActionInput[]
    const last = actions.at(-1)!
    const isRead = (each: ActionInput) => (read as readonly string[]).includes(each.type)
    const misplaced = actions.slice(0, -1).find(isRead)
    if (misplaced) {
      throw new ToolFailure(
        `Cannot do this: "${misplaced.type}" may only be the last action [code: bad_request]`,
      )
    }
    await perform(isRead(last) ? actions.slice(0, -1) : actions, args, context)
    return isRead(last) ? readLast(last, args, context) : [words('Done.')]
  },
})
