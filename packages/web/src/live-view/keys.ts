/** Keysyms, as X has them. */
export const keysyms = {
  backspace: 0xff08,
  return: 0xff0d,
  controlLeft: 0xffe3,
  superLeft: 0xffeb,
  superRight: 0xffec,
} as const

/** Beyond Latin 1, characters are their code points above this. */
const UNICODE = 0x01000000

export function keysymOf(character: string): number {
  const code = character.codePointAt(0)!
  if (code === 0x0a || code === 0x0d) return keysyms.return
  return code < 0x100 ? code : UNICODE | code
}
