// What a refusal of an agent may say besides its code and message. It comes from inside an instance, so only what the
// contract knows passes.
import { Ajv, type ValidateFunction } from 'ajv'
import type { ErrorBody } from '@berth/contracts/errors'
import { MAX_NAMED_EXECUTORS, PlaywrightExecutor } from '@berth/contracts/playwright-executor'

export type Refusal = Partial<Record<keyof ErrorBody, unknown>>

let isExecutor: ValidateFunction<PlaywrightExecutor> | undefined

export function fieldsOf({
  net_error: number,
  net_error_name: name,
  executors,
}: Refusal): Partial<ErrorBody> {
  return {
    // Chromium's reason why the browser got no answer.
    ...(Number.isSafeInteger(number) && { net_error: number as number }),
    ...(typeof name === 'string' && /^ERR_[A-Z0-9_]{1,100}$/.test(name) && { net_error_name: name }),
    ...(Array.isArray(executors) && { executors: executorsIn(executors) }),
  }
}

function executorsIn(given: readonly unknown[]): PlaywrightExecutor[] {
  // For validateSchema see http/validation.ts.
  isExecutor ??= new Ajv({
    strict: true,
    removeAdditional: 'all',
    validateFormats: false,
    validateSchema: false,
  }).compile<PlaywrightExecutor>(PlaywrightExecutor)
  return given.slice(0, MAX_NAMED_EXECUTORS + 1).filter((each) => isExecutor!(each))
}
