const NAMES = ['readOnly', 'readonly', 'ro']
const YES = /^(1|true|yes)$/i

/** Reads the parameter from the page's URL, in all spellings that clients use. */
export function asksForReadOnly(query: URLSearchParams): boolean {
  return NAMES.some((name) => query.getAll(name).some((value) => YES.test(value)))
}
