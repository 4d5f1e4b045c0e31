// Mouse, keyboard, screen and clipboard of an instance. A headful instance uses its X display, a headless one CDP.
// Actions run one at a time, in order of arrival.
import { Type, type Static } from 'typebox'
import { CALL_TIMEOUT_MS } from './computer-limits.ts'
import { control, Ok } from './control.ts'
import { OneOf, Strict } from './schema.ts'

const tag = 'Computer'

const MAX_CLICKS = 100
const MAX_TICKS = 1_000
const MAX_TEXT = 100_000
const MAX_KEYS = 100
const MAX_HELD_KEYS = 10
const MAX_POINTS = 1_000
const MAX_ACTIONS = 100

/** Larger than any screen. The instance checks the size of its own screen. */
const MAX_PIXELS = 32_767
const coordinate = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_PIXELS, description })

const keyName = (description: string) => Type.String({ minLength: 1, maxLength: 100, description })

const held = (what: string) =>
  Type.Optional(
    Type.Array(keyName('Modifier key, such as "Shift" or "ctrl"'), {
      maxItems: MAX_HELD_KEYS,
      description: `Modifier keys to hold during the ${what}`,
    }),
  )

const milliseconds = (options: {
  description: string
  minimum?: number
  maximum?: number
  default?: number
}) => Type.Optional(Type.Integer({ minimum: 0, maximum: CALL_TIMEOUT_MS, ...options }))

const text = (description: string) => Type.String({ maxLength: MAX_TEXT, description })

const ClickMouse = Strict({
  x: coordinate('Pixels from the left edge of the screen'),
  y: coordinate('Pixels from the top edge of the screen'),
  button: Type.Optional(
    OneOf(['left', 'right', 'middle', 'back', 'forward'] as const, {
      description: 'Mouse button',
      default: 'left',
    }),
  ),
  click_type: Type.Optional(
    OneOf(['down', 'up', 'click'] as const, {
      description: 'Press, release, or both. A pressed button stays down until it is released',
      default: 'click',
    }),
  ),
  num_clicks: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_CLICKS, default: 1, description: 'Number of clicks' }),
  ),
  hold_keys: held('click'),
})
export type ClickMouse = Static<typeof ClickMouse>

const MoveMouse = Strict({
  x: coordinate('Target position in pixels from the left edge of the screen'),
  y: coordinate('Target position in pixels from the top edge of the screen'),
  smooth: Type.Optional(
    Type.Boolean({ default: true, description: 'Move along a curve like a human hand, instead of jumping' }),
  ),
  duration_ms: milliseconds({
    minimum: 50,
    maximum: 5_000,
    description: 'Duration of a smooth move; depends on the distance when omitted',
  }),
  hold_keys: held('move'),
})
export type MoveMouse = Static<typeof MoveMouse>

const TypeText = Strict({
  text: text('Text to type. A newline presses Return, a tab presses Tab'),
  delay: milliseconds({ default: 0, description: 'Milliseconds between characters' }),
  smooth: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Type in a human rhythm; ignores `delay`',
    }),
  ),
  typo_chance: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 0.1,
      default: 0,
      description: 'Probability of a typo that is corrected at once; only with `smooth`',
    }),
  ),
})
export type TypeText = Static<typeof TypeText>

const PressKey = Strict({
  keys: Type.Array(
    keyName('An X keysym such as "Return" or "F5", a character, or a combination joined by "+"'),
    {
      minItems: 1,
      maxItems: MAX_KEYS,
      description: 'Keys to press one after another, or all together if `duration` is set',
    },
  ),
  duration: milliseconds({
    default: 0,
    description: 'Milliseconds to hold all keys together. 0 taps each key in turn',
  }),
  hold_keys: held('key press'),
})
export type PressKey = Static<typeof PressKey>

const ticks = (description: string) =>
  Type.Optional(Type.Integer({ minimum: -MAX_TICKS, maximum: MAX_TICKS, default: 0, description }))

const Scroll = Strict({
  x: coordinate('Mouse position in pixels from the left edge of the screen'),
  y: coordinate('Mouse position in pixels from the top edge of the screen'),
  delta_x: ticks('Wheel ticks; positive scrolls right'),
  delta_y: ticks('Wheel ticks; positive scrolls down'),
  hold_keys: held('scroll'),
})
export type Scroll = Static<typeof Scroll>

const DragMouse = Strict({
  path: Type.Array(
    Type.Array(coordinate('x, then y'), { minItems: 2, maxItems: 2, description: 'A point as [x, y]' }),
    {
      minItems: 2,
      maxItems: MAX_POINTS,
      examples: [
        [
          [100, 100],
          [300, 200],
        ],
      ],
      description: 'Points to drag through',
    },
  ),
  button: Type.Optional(
    OneOf(['left', 'middle', 'right'] as const, { description: 'Mouse button', default: 'left' }),
  ),
  delay: milliseconds({
    default: 0,
    description: 'Milliseconds between pressing the button and the first movement',
  }),
  smooth: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'Move along curves like a human hand, instead of straight lines',
    }),
  ),
  duration_ms: milliseconds({
    minimum: 50,
    maximum: 10_000,
    description: 'Duration of a smooth drag; depends on the length of the path when omitted',
  }),
  steps_per_segment: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 10,
      description: 'Number of steps from one point to the next; ignored if `smooth`',
    }),
  ),
  step_delay_ms: milliseconds({
    default: 50,
    description: 'Milliseconds between steps; ignored if `smooth`',
  }),
  hold_keys: held('drag'),
})
export type DragMouse = Static<typeof DragMouse>

const SetCursor = Strict({
  hidden: Type.Boolean({ description: 'Whether to hide the cursor' }),
})
export type SetCursor = Static<typeof SetCursor>

const Sleep = Strict({
  duration_ms: Type.Integer({ minimum: 0, maximum: 30_000, description: 'Milliseconds to wait' }),
})

const BatchAction = Strict(
  {
    type: OneOf(
      [
        'click_mouse',
        'move_mouse',
        'type_text',
        'press_key',
        'scroll',
        'drag_mouse',
        'set_cursor',
        'sleep',
      ] as const,
      { description: 'Type of the action; the field of the same name holds its parameters' },
    ),
    click_mouse: Type.Optional(ClickMouse),
    move_mouse: Type.Optional(MoveMouse),
    type_text: Type.Optional(TypeText),
    press_key: Type.Optional(PressKey),
    scroll: Type.Optional(Scroll),
    drag_mouse: Type.Optional(DragMouse),
    set_cursor: Type.Optional(SetCursor),
    sleep: Type.Optional(Sleep),
  },
  { title: 'ComputerAction' },
)
export type BatchAction = Static<typeof BatchAction>

const Batch = Strict({
  actions: Type.Array(BatchAction, {
    minItems: 1,
    maxItems: MAX_ACTIONS,
    examples: [[{ type: 'sleep', sleep: { duration_ms: 100 } }]],
    description: 'Actions to run in this order, without interruption. The first failure stops the batch',
  }),
})
export type Batch = Static<typeof Batch>

const Region = Strict({
  x: coordinate('Left edge'),
  y: coordinate('Top edge'),
  width: Type.Integer({ minimum: 1, maximum: MAX_PIXELS, description: 'Width in pixels' }),
  height: Type.Integer({ minimum: 1, maximum: MAX_PIXELS, description: 'Height in pixels' }),
})
export type Region = Static<typeof Region>

const Screenshot = Strict({ region: Type.Optional(Region) })
export type Screenshot = Static<typeof Screenshot>

const Clipboard = Strict({ text: text('Text to write; an empty string clears the clipboard') })
export type Clipboard = Static<typeof Clipboard>

const Position = Type.Object(
  {
    x: Type.Integer({ description: 'Pixels from the left edge of the screen' }),
    y: Type.Integer({ description: 'Pixels from the top edge of the screen' }),
  },
  { title: 'MousePosition' },
)

/** Shared by all operations. Requests beyond the queue limit get `too_many_requests`. */
const shared = { tag, method: 'POST', status: 200, errors: ['too_many_requests'] } as const

export const clickMouse = control({
  ...shared,
  id: 'clickMouse',
  summary: 'Click, or press or release a mouse button',
  at: '/computer/click_mouse',
  kind: 'empty',
  body: ClickMouse,
})

export const moveMouse = control({
  ...shared,
  id: 'moveMouse',
  summary: 'Move the mouse',
  at: '/computer/move_mouse',
  kind: 'empty',
  body: MoveMouse,
})

export const typeText = control({
  ...shared,
  id: 'typeText',
  summary: 'Type text',
  at: '/computer/type',
  kind: 'empty',
  body: TypeText,
})

export const pressKey = control({
  ...shared,
  id: 'pressKey',
  summary: 'Press keys',
  at: '/computer/press_key',
  kind: 'empty',
  body: PressKey,
})

export const scroll = control({
  ...shared,
  id: 'scroll',
  summary: 'Scroll with the mouse wheel',
  at: '/computer/scroll',
  kind: 'empty',
  body: Scroll,
})

export const dragMouse = control({
  ...shared,
  id: 'dragMouse',
  summary: 'Drag the mouse',
  at: '/computer/drag_mouse',
  kind: 'empty',
  body: DragMouse,
})

export const captureScreenshot = control({
  ...shared,
  id: 'captureScreenshot',
  referenceIds: ['takeScreenshot'],
  summary: 'Take a screenshot of the screen, or of the page in headless sessions',
  at: '/computer/screenshot',
  kind: 'binary',
  contentType: 'image/png',
  body: Screenshot,
  bodyOptional: true,
})

export const setCursorVisibility = control({
  ...shared,
  id: 'setCursorVisibility',
  referenceIds: ['setCursor'],
  summary: 'Hide or show the cursor',
  at: '/computer/cursor',
  body: SetCursor,
  response: Ok,
})

export const getMousePosition = control({
  ...shared,
  id: 'getMousePosition',
  summary: 'Get the mouse position',
  at: '/computer/get_mouse_position',
  response: Position,
})

export const readClipboard = control({
  ...shared,
  id: 'readClipboard',
  summary: 'Read text from the clipboard',
  at: '/computer/clipboard/read',
  response: Type.Object({
    text: Type.String({ description: 'Text on the clipboard; empty if there is no text' }),
  }),
})

export const writeClipboard = control({
  ...shared,
  id: 'writeClipboard',
  summary: 'Write text to the clipboard',
  at: '/computer/clipboard/write',
  kind: 'empty',
  body: Clipboard,
})

export const batchComputerActions = control({
  ...shared,
  id: 'batchComputerActions',
  referenceIds: ['batchComputerAction'],
  summary: 'Run several actions in one request',
  at: '/computer/batch',
  kind: 'empty',
  body: Batch,
})
