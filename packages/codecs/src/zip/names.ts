// Names in archives. No entry may leave the directory that it is unpacked into.
import { isUtf8 } from 'node:buffer'
import { refused } from './refused.ts'

const MAX_PATH_LENGTH = 4096
const MAX_NAME_LENGTH = 255
/** Every directory above every entry is looked at, so the product of the two is what takes time. */
const MAX_DEPTH = 64

/** Code page 437, for names that are neither marked as UTF-8 nor valid UTF-8. */
const UPPER_HALF =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}'

export function decodeName(bytes: Buffer, isMarkedUtf8: boolean): string {
  if (isUtf8(bytes)) return bytes.toString()
  if (isMarkedUtf8) throw refused('a name in it is not UTF-8')
  return Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : UPPER_HALF[byte - 128]!)).join(
    '',
  )
}

/** Returns a relative path without `.`; empty for the directory itself. */
export function safeName(name: string): string {
  const refuse = (reason: string) => refused(`the name "${shown(name)}" in it ${reason}`)
  if (name.includes('\0')) throw refuse('has a NUL')
  if (name.includes('\\')) throw refuse('has a backslash')
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) throw refuse('is absolute')
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw refuse('leads out of the directory')
  if (Buffer.byteLength(name) > MAX_PATH_LENGTH) throw refuse('is too long')
  if (segments.some((segment) => Buffer.byteLength(segment) > MAX_NAME_LENGTH)) throw refuse('is too long')
  if (segments.length > MAX_DEPTH) throw refuse(`is more than ${MAX_DEPTH} directories deep`)
  return segments.join('/')
}

/** A link may lead only into the target directory: first up, then down, and never above its top. */
export function checkLink(name: string, target: string): void {
  const refuse = () => refused(`the link "${shown(name)}" in it leads out of the directory`)
  if (target === '' || target.includes('\0') || target.startsWith('/')) throw refuse()
  const segments = target.split('/').filter((segment) => segment !== '' && segment !== '.')
  const ups = segments.findIndex((segment) => segment !== '..')
  const up = ups === -1 ? segments.length : ups
  if (segments.slice(up).includes('..') || up > name.split('/').length - 1) throw refuse()
}

export function shown(name: string): string {
  return name.slice(0, 100).replaceAll('\0', '\\0')
}
