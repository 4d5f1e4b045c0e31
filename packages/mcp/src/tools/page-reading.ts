// Reading pages: snapshots, screenshots, tabs, waiting.
import { Type } from 'typebox'
import { listBrowserPages } from '@berth/contracts/devtools'
import { executePlaywrightCode } from '@berth/contracts/playwright'
import { OneOf } from '@berth/contracts/schema'
import { data, image, words } from '../core/answer.ts'
import { ToolFailure } from '../core/run.ts'
import { cut, LARGEST_TEXT, MAX_TEXT, visible } from '../core/text.ts'
import { manyTool, tool, type Args, type Context, type Tool } from '../core/tool.ts'
import { changeTabs, takePicture, waitFor } from '../page/code.ts'
import { executor, loadState, ref, selector, sessionId, targetOf, timeoutSeconds } from '../page/fields.ts'
import { inSession } from '../page/in-session.ts'
import { snapshotAnswer, whereLines } from '../page/shown.ts'

const needs = [executePlaywrightCode]
/** In base64, this is what most clients still take. */
const MAX_PICTURE_BYTES = 1_000_000

const snapshot = tool({
  name: 'browser_snapshot',
  title: 'Read a page',
  toolset: 'page',
  description:
    'Lists what is on the page as an accessibility tree, with a reference such as [ref=e12] for each element that other tools can use. Better than a screenshot for acting. Large pages are cut: read a part with "ref", find something with "search", or limit "depth".',
  input: {
    session_id: sessionId,
    executor,
    ref,
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Only lines that contain this text, with what is around them',
      }),
    ),
    depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Levels of the tree' })),
    max_chars: Type.Optional(
      Type.Integer({
        minimum: 500,
        maximum: LARGEST_TEXT,
        default: MAX_TEXT,
        description: 'How long the answer may be',
      }),
    ),
  },
  needs,
  hints: { readOnly: true },
  run: (args: Args, context) =>
    snapshotAnswer(context, {
      sessionId: args.session_id,
      executor: args.executor,
      ref: args.ref,
      depth: args.depth,
      search: args.search,
      maxLength: args.max_chars,
    }),
})

const screenshot = tool({
  name: 'browser_take_screenshot',
  title: 'Take a screenshot of a page',
  toolset: 'page',
  description:
    'A picture of the page, of one element, or of the whole length of the page. For the screen with its windows, and for coordinates, use computer_action.',
  input: {
    session_id: sessionId,
    executor,
    ref,
    selector,
    full_page: Type.Optional(Type.Boolean({ default: false, description: 'The whole length of the page' })),
    type: Type.Optional(OneOf(['jpeg', 'png'] as const, { default: 'jpeg', description: 'Format' })),
  },
  needs,
  hints: { readOnly: true },
  run: async (args: Args, context) => {
    const isOfElement = args.ref !== undefined || args.selector !== undefined
    const seconds = 30
    const picture = await inSession(context, {
      sessionId: args.session_id,
      executor: args.executor,
      code: takePicture,
      args: {
        target: isOfElement ? targetOf(args) : null,
        isFullPage: args.full_page ?? false,
        type: args.type ?? 'jpeg',
        maxBytes: MAX_PICTURE_BYTES,
        timeoutMs: seconds * 1000,
      },
      seconds: seconds * 3,
    })
    const where = data(whereLines(picture, context).join('\n'))
    const rest =
      picture.path === null
        ? []
        : [
            words(
              `The picture was too large and was made smaller; the original is ${picture.path} in the session.`,
            ),
          ]
    if (picture.data === '')
      return [where, ...rest, words('Even then it was too large: take it of one element.')]
    return [where, ...rest, image(picture.data, `image/${picture.type}`)]
  },
})

const wait = tool({
  name: 'browser_wait_for',
  title: 'Wait for something on a page',
  toolset: 'page',
  description:
    'Waits until a text appears or disappears, an element has a state, the address contains something, the page is loaded, or some seconds have passed.',
  input: {
    session_id: sessionId,
    executor,
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'A text that appears' })),
    text_gone: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'A text that disappears' }),
    ),
    ref,
    selector,
    state: Type.Optional(
      OneOf(['visible', 'hidden', 'attached', 'detached'] as const, {
        default: 'visible',
        description: 'State of the element that ref or selector names',
      }),
    ),
    url: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2_000, description: 'A part of the address of the page' }),
    ),
    load_state: Type.Optional(loadState),
    seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 60, description: 'Just wait so long' })),
    timeout_seconds: timeoutSeconds(120, 30),
  },
  needs,
  hints: { readOnly: true },
  run: async (args: Args, context) => {
    const waits = ['text', 'text_gone', 'ref', 'selector', 'url', 'load_state', 'seconds']
    if (waits.every((name) => args[name] === undefined)) {
      throw new ToolFailure(`Cannot wait: give one of ${waits.join(', ')} [code: bad_request]`)
    }
    const seconds: number = args.timeout_seconds ?? 30
    const where = await inSession(context, {
      sessionId: args.session_id,
      executor: args.executor,
      mayBeGone: args.state === 'hidden' || args.state === 'detached',
      code: waitFor,
      args: {
        text: args.text ?? null,
        textGone: args.text_gone ?? null,
        target: { ref: args.ref ?? null, selector: args.selector ?? null },
        state: args.state ?? 'visible',
        url: args.url ?? null,
        load: args.load_state ?? null,
        seconds: args.seconds ?? null,
        timeoutMs: seconds * 1000,
      },
      seconds: Math.min(300, seconds + Math.ceil(args.seconds ?? 0) + 10),
    })
    return [data(whereLines(where, context).join('\n'))]
  },
})

async function changed(action: 'new' | 'select' | 'close', args: Args, context: Context) {
  const where = await inSession(context, {
    sessionId: args.session_id,
    executor: args.executor,
    code: changeTabs,
    args: { action, tabId: args.tab_id ?? null, url: args.url ?? null, timeoutMs: 30_000 },
    seconds: 60,
  })
  if (!where.found)
    throw new ToolFailure('Cannot find that tab: take tab_id from action list [code: not_found]')
  const what = { new: 'Opened', select: 'Selected', close: 'Closed' }[action]
  return [words(`${what} this tab:`), data(whereLines(where, context).join('\n'))]
}

const tabId = Type.Optional(
  Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', description: 'Id of the tab, from action list' }),
)

const tabs = manyTool({
  name: 'browser_tabs',
  title: 'List, open, select and close tabs',
  toolset: 'page',
  description:
    'The tabs of a session. The one that was used last comes first; tools without an executor act on it.',
  input: {
    session_id: sessionId,
    executor,
    tab_id: tabId,
    url: Type.Optional(Type.String({ maxLength: 8_000, description: 'What a new tab opens' })),
  },
  actions: {
    list: {
      does: 'list the tabs with their ids',
      needs: [listBrowserPages],
      run: async (args: Args, { api, secrets }) => {
        const pages = await api.call(listBrowserPages, { params: { id: args.session_id } })
        const shown = pages.slice(0, 30).map(({ id, title, url }) => ({
          tab_id: id,
          title: cut(visible(title), 0, 100),
          url: cut(secrets.mask(visible(url)), 0, 300),
        }))
        const more = pages.length - shown.length
        return [
          data(JSON.stringify(shown, undefined, 1)),
          ...(more > 0 ? [words(`${more} more tabs are not shown; close some.`)] : []),
        ]
      },
    },
    new: {
      does: 'open a tab and use it',
      needs,
      run: (args: Args, context) => changed('new', args, context),
    },
    select: {
      does: 'use another tab',
      needs,
      requires: ['tab_id'],
      run: (args: Args, context) => changed('select', args, context),
    },
    close: {
      does: 'close a tab; without tab_id, the one in use',
      needs,
      run: (args: Args, context) => changed('close', args, context),
    },
  },
})

export const pageReadingTools: readonly Tool[] = [snapshot, screenshot, wait, tabs]
