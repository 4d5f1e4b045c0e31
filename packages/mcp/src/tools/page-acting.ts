// Acting on pages by references to their elements.
import { Buffer } from 'node:buffer'
import { Type, type TProperties } from 'typebox'
import { writeFile } from '@berth/contracts/files'
import { executePlaywrightCode } from '@berth/contracts/playwright'
import { OneOf } from '@berth/contracts/schema'
import { data, type Answer } from '../core/answer.ts'
import { ToolFailure } from '../core/run.ts'
import { tool, type Args, type Context, type Tool } from '../core/tool.ts'
import { act, type Act } from '../page/code.ts'
import { executor, ref, selector, sessionId, targetOf, timeoutSeconds } from '../page/fields.ts'
import { inSession } from '../page/in-session.ts'
import { actedLines, snapshotAnswer } from '../page/shown.ts'

const needs = [executePlaywrightCode]
const ACT_SECONDS = 10
const MAX_TYPED = 100_000
const MAX_FILES = 20
const UPLOADS = '/home/kernel/uploads'

const andSnapshot = Type.Optional(
  Type.Boolean({ default: false, description: 'Answer with a snapshot of the page, too' }),
)

async function perform(what: Act, args: Args, context: Context, seconds: number): Promise<Answer> {
  const acted = await inSession(context, {
    sessionId: args.session_id,
    executor: args.executor,
    code: act,
    args: { act: what, timeoutMs: seconds * 1000 },
    // A time for each of several fields, and for what the act starts.
    seconds: Math.min(300, seconds * 2 + 20),
  })
  const said = data(actedLines(acted, context).join('\n'))
  if (!args.snapshot) return [said]
  return [said, ...(await snapshotAnswer(context, { sessionId: args.session_id, executor: args.executor }))]
}

interface Row {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: TProperties
  readonly usualSeconds?: number
  readonly toAct: (args: Args) => Act
}

const acting = ({ usualSeconds = ACT_SECONDS, toAct, input, ...row }: Row): Tool =>
  tool({
    ...row,
    toolset: 'page',
    input: {
      session_id: sessionId,
      executor,
      ...input,
      timeout_seconds: timeoutSeconds(120, usualSeconds),
      snapshot: andSnapshot,
    },
    needs,
    run: (args: Args, context) => perform(toAct(args), args, context, args.timeout_seconds ?? usualSeconds),
  })

const navigate = acting({
  name: 'browser_navigate',
  title: 'Open an address',
  description: 'Opens an address in the tab, or goes back, forward, or loads the page again.',
  usualSeconds: 30,
  input: {
    url: Type.Optional(
      Type.String({ minLength: 1, maxLength: 8_000, description: 'Address, such as https://example.com' }),
    ),
    history: Type.Optional(
      OneOf(['back', 'forward', 'reload'] as const, { description: 'Instead of an address' }),
    ),
    wait_until: Type.Optional(
      OneOf(['load', 'domcontentloaded', 'commit'] as const, {
        default: 'load',
        description: 'How far the page must be',
      }),
    ),
  },
  toAct: (args) => {
    if (args.history !== undefined) return { kind: 'history', step: args.history }
    if (args.url === undefined)
      throw new ToolFailure('Cannot navigate: give "url" or "history" [code: bad_request]')
    return { kind: 'navigate', url: withScheme(args.url), waitUntil: args.wait_until ?? 'load' }
  },
})

/** People and models write `example.com`. */
const withScheme = (url: string) =>
  /^[a-z][a-z\d+.-]*:/i.test(url) && !/^localhost:/i.test(url) ? url : `https://${url}`

const element = { ref, selector }

const click = acting({
  name: 'browser_click',
  title: 'Click on an element',
  description: 'Clicks on an element of the page.',
  input: {
    ...element,
    button: Type.Optional(
      OneOf(['left', 'right', 'middle'] as const, { default: 'left', description: 'Mouse button' }),
    ),
    double: Type.Optional(Type.Boolean({ default: false, description: 'A double click' })),
    modifiers: Type.Optional(
      Type.Array(
        OneOf(['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'] as const, { description: 'Modifier key' }),
        { maxItems: 5, description: 'Keys that are held' },
      ),
    ),
  },
  toAct: (args) => ({
    kind: 'click',
    target: targetOf(args),
    button: args.button ?? 'left',
    count: args.double ? 2 : 1,
    modifiers: args.modifiers ?? [],
  }),
})

const hover = acting({
  name: 'browser_hover',
  title: 'Move the mouse over an element',
  description: 'Moves the mouse over an element, for example to open a menu.',
  input: element,
  toAct: (args) => ({ kind: 'hover', target: targetOf(args) }),
})

const drag = acting({
  name: 'browser_drag',
  title: 'Drag one element to another',
  description: 'Drags an element and drops it on another.',
  input: {
    ...element,
    to_ref: ref,
    to_selector: selector,
  },
  toAct: (args) => ({
    kind: 'drag',
    target: targetOf(args),
    to: targetOf({ ref: args.to_ref, selector: args.to_selector }),
  }),
})

const type = acting({
  name: 'browser_type',
  title: 'Type into a field',
  description: 'Replaces the content of a field by a text.',
  input: {
    ...element,
    text: Type.String({ maxLength: MAX_TYPED, description: 'The text' }),
    submit: Type.Optional(Type.Boolean({ default: false, description: 'Press Enter at the end' })),
    slowly: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Key by key, after what the field has, for pages that watch keys',
      }),
    ),
  },
  toAct: (args) => ({
    kind: 'type',
    target: targetOf(args),
    text: args.text,
    isSlow: args.slowly ?? false,
    isSubmitted: args.submit ?? false,
  }),
})

const press = acting({
  name: 'browser_press_key',
  title: 'Press a key',
  description: 'Presses a key or a combination, such as Enter, Escape, ArrowDown or Control+A.',
  input: {
    key: Type.String({ minLength: 1, maxLength: 50, description: 'Name of the key, as in Playwright' }),
    ...element,
  },
  toAct: (args) => ({
    kind: 'press',
    key: args.key,
    target: args.ref === undefined && args.selector === undefined ? null : targetOf(args),
  }),
})

const select = acting({
  name: 'browser_select_option',
  title: 'Select options',
  description: 'Selects options of a drop-down list by their values or labels.',
  input: {
    ...element,
    values: Type.Array(Type.String({ maxLength: 1_000 }), {
      minItems: 1,
      maxItems: 100,
      description: 'Values or labels',
    }),
  },
  toAct: (args) => ({ kind: 'select', target: targetOf(args), values: args.values }),
})

const fill = acting({
  name: 'browser_fill_form',
  title: 'Fill several fields',
  description: 'Fills several fields of a form in one call: texts, checkboxes and drop-down lists.',
  input: {
    fields: Type.Array(
      Type.Object(
        {
          ref,
          selector,
          value: Type.Union([Type.String({ maxLength: MAX_TYPED }), Type.Boolean()], {
            description: 'A text, the value or label of an option, or whether a checkbox is checked',
          }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 50, description: 'The fields, in this order' },
    ),
  },
  toAct: (args) => ({
    kind: 'fill',
    fields: (args.fields as { ref?: string; selector?: string; value: string | boolean }[]).map((field) => ({
      ...targetOf(field),
      value: field.value,
    })),
  }),
})

const upload = tool({
  name: 'browser_file_upload',
  title: 'Upload files to a page',
  toolset: 'page',
  description:
    'Gives files to a file field, or to a button that opens a file dialog. Files are paths in the session, or come with the call and are stored in the session first.',
  input: {
    session_id: sessionId,
    executor,
    ...element,
    paths: Type.Optional(
      Type.Array(Type.String({ pattern: '^/', maxLength: 4_096 }), {
        maxItems: MAX_FILES,
        description: 'Paths in the session, such as /home/kernel/Downloads/a.pdf',
      }),
    ),
    files: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String({ pattern: '^[^/\\u0000]{1,200}$', description: 'Name of the file' }),
            text: Type.Optional(Type.String({ description: 'Its content' })),
            base64: Type.Optional(Type.String({ description: 'Its content in base64, instead of text' })),
          },
          { additionalProperties: false },
        ),
        { maxItems: MAX_FILES, description: 'Files that come with the call' },
      ),
    ),
    timeout_seconds: timeoutSeconds(120, ACT_SECONDS),
    snapshot: andSnapshot,
  },
  needs: [executePlaywrightCode, writeFile],
  run: async (args: Args, context) => {
    const stored: string[] = []
    for (const { name, text, base64 } of (args.files ?? []) as {
      name: string
      text?: string
      base64?: string
    }[]) {
      const path = `${UPLOADS}/${name}`
      const bytes = Buffer.from(base64 ?? text ?? '', base64 === undefined ? 'utf8' : 'base64')
      await context.api.send(writeFile, { params: { id: args.session_id }, query: { path } }, bytes)
      stored.push(path)
    }
    const paths = [...((args.paths ?? []) as string[]), ...stored]
    if (paths.length === 0)
      throw new ToolFailure('Cannot upload: give "paths" or "files" [code: bad_request]')
    const what: Act = { kind: 'upload', target: targetOf(args), paths }
    return perform(what, args, context, args.timeout_seconds ?? ACT_SECONDS)
  },
})

export const pageActingTools: readonly Tool[] = [
  navigate,
  click,
  type,
  fill,
  select,
  press,
  hover,
  drag,
  upload,
]
