import { readFileSync } from 'node:fs'
import { SettingError } from './setting-error.ts'

export const text = (value: string): string => value

export function matching(pattern: RegExp, what: string) {
  return (value: string): string => {
    if (!pattern.test(value)) throw new SettingError(`must be ${what}, but is "${value}"`)
    return value
  }
}

export function integer(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new SettingError(`must be a whole number from ${min} to ${max}, but is "${value}"`)
    }
    return number
  }
}

export function oneOf<const V extends string>(...values: V[]) {
  return (value: string): V => {
    if (!values.includes(value as V)) {
      throw new SettingError(`must be one of ${values.join(', ')}, but is "${value}"`)
    }
    return value as V
  }
}

export function boolean(value: string): boolean {
  return oneOf('true', 'false')(value) === 'true'
}

export function commaList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}

export function versionList(value: string): string[] {
  const versions = commaList(value)
  const wrong = versions.find((version) => !/^\d{1,3}\.\d{1,3}$/.test(version))
  if (wrong !== undefined) throw new SettingError(`must list versions such as 1.64, but has "${wrong}"`)
  return versions
}

export function fileContent(path: string): Buffer | undefined {
  if (!path) return undefined
  // Handed over by root, as one that this process could not open again by its path.
  const [, descriptor] = /^\/dev\/fd\/(\d+)$/.exec(path) ?? []
  try {
    return readFileSync(descriptor === undefined ? path : Number(descriptor))
  } catch (error) {
    throw new SettingError(`must name a readable file, but "${path}" gives ${(error as Error).message}`)
  }
}
