// Names of destinations are unique in their project without regard to case and accents.
import { invalidInput } from '../../../platform/errors/app-error.ts'

const ID = /^[a-z][a-z0-9]{23}$/

export const isId = (text: string): boolean => ID.test(text)

/** Equal for names that count as one. */
export function nameKey(name: string): string {
  return name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().normalize('NFKC')
}

export function checkName(name: string): string {
  if (name.trim() === '') throw invalidInput('name', 'must not be blank')
  if (isId(name)) throw invalidInput('name', 'must not look like an id: a letter and 23 letters or digits')
  return name
}
