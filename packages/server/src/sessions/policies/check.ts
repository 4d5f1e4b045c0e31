// Checks `chrome_policy` without a browser: size, shape, protected names, and the types of known policies. Like
// Chromium, it ignores unknown names, because the next version may know them.
import { MAX_POLICY_BYTES, type ChromePolicy } from '@berth/contracts/chrome-policy'
import { invalidInput } from '../../platform/errors/app-error.ts'
import { policyTypes, type PolicyType } from './known.ts'
import { isProtected } from './protected.ts'

const MAX_NAME_LENGTH = 200
/** Chromium accepts JSON up to a depth of 200. */
const MAX_DEPTH = 100

const isOf: Record<PolicyType, (value: unknown) => boolean> = {
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  number: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
  list: (value) => Array.isArray(value),
  dictionary: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** Returns the policy as JSON; throws an error that names the first invalid policy. */
export function checkPolicy(policy: ChromePolicy): string {
  for (const [name, value] of Object.entries(policy)) {
    const field = `chrome_policy.${name.slice(0, MAX_NAME_LENGTH)}`
    if (isProtected(name)) throw invalidInput(field, 'is managed by Berth and cannot be set')
    const type = policyTypes.get(name)
    if (type && !isOf[type](value)) throw invalidInput(field, `must be ${articleOf(type)} ${type}`)
    if (isDeeper(value, MAX_DEPTH)) throw invalidInput(field, `is nested deeper than ${MAX_DEPTH} levels`)
  }
  const text = JSON.stringify(policy)
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES) {
    throw invalidInput('chrome_policy', `must have at most ${MAX_POLICY_BYTES / 1024 / 1024} MiB as JSON`)
  }
  return text
}

const articleOf = (type: PolicyType) => (type === 'integer' ? 'an' : 'a')

/** Iterates level by level, because recursion would overflow on deep values. */
function isDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}
