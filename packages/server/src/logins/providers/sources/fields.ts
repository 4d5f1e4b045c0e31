// Converts an item's fields to the values of a login.
import { MAX_VALUE_LENGTH, MAX_VALUES } from '@berth/contracts/credentials'

export interface LabelledValue {
  readonly label: string
  readonly value: string
}

/** User name and password by their purpose, other fields by their labels; the first field with a name counts. */
export function toValues({
  username,
  password,
  others,
}: {
  username: string | undefined
  password: string | undefined
  others: readonly LabelledValue[]
}): Record<string, string> {
  const values = new Map<string, string>()
  const add = (name: string, value: string | undefined) => {
    const isUsable = name !== '' && value && value.length <= MAX_VALUE_LENGTH && values.size < MAX_VALUES
    if (isUsable && !values.has(name)) values.set(name, value)
  }
  add('username', username)
  add('password', password)
  for (const { label, value } of others) add(toName(label), value)
  // Many pages ask for the e-mail address, which items store as the user name.
  if (username?.includes('@')) add('email', username)
  return Object.fromEntries(values)
}

/** `Company ID` becomes `company_id`. */
export function toName(label: string): string {
  return label
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 255)
}
