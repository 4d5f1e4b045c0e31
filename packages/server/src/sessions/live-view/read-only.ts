const NAMES = ['readOnly', 'readonly', 'ro']
const YES = /^(1|true|yes)$/i

/** As the page's own address says it, in any of the forms that are in use. */
export function asksForReadOnly(query: URLSearchParams): boolean {
  return NAMES.some((name) => query.getAll(name).some((value) => YES.test(value)))
}
