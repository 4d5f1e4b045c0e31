/** X keysyms. */
export const keysyms = {
  backspace: 0xff08,
  return: 0xff0d,
  controlLeft: 0xffe3,
  superLeft: 0xffeb,
  superRight: 0xffec,
} as const

/** The keysym of a character beyond Latin 1 is this number plus its code point. */
const UNICODE = 0x01000000

export function keysymOf(character: string): number {
  const code = character.codePointAt(0)!
  if (code === 0x0a || code === 0x0d) return keysyms.return
  return code < 0x100 ? code : UNICODE | code
}
