// Inputs that the tools of a page share.
import { Type } from 'typebox'
import { OneOf } from '@berth/contracts/schema'
import { executorName } from '@berth/contracts/playwright-executor'
import { ToolFailure } from '../core/run.ts'
import type { Target } from './code.ts'

export const sessionId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Name or id of the browser session',
})

export const executor = Type.Optional(
  executorName(
    'Gives you a tab of your own that other agents do not touch; use the same name in every call. Without it, you use the tab that was used last',
  ),
)

export const timeoutSeconds = (most: number, usual: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, default: usual, description: 'How long to try, in seconds' }),
  )

export const ref = Type.Optional(
  Type.String({
    pattern: '^(f\\d+)?e\\d+$',
    maxLength: 20,
    description: 'Reference of the element in the last snapshot, such as e12',
  }),
)

export const selector = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'Selector of Playwright for the element, such as text=Sign in, instead of a reference',
  }),
)

export const loadState = OneOf(['load', 'domcontentloaded', 'networkidle'] as const, {
  description: 'Wait until the page has got so far',
})

interface Named {
  readonly ref?: string
  readonly selector?: string
}

export function targetOf({ ref: reference, selector: text }: Named): Target {
  if (reference === undefined && text === undefined) {
    throw new ToolFailure(
      'Cannot tell which element is meant: give "ref" from browser_snapshot, or "selector" [code: bad_request]',
    )
  }
  return { ref: reference ?? null, selector: text ?? null }
}
