// Enterprise policies of a session's Chromium, by their names.
import { Type, type Static } from 'typebox'

/** Written as JSON. */
export const MAX_POLICY_BYTES = 5 * 1024 * 1024

export const ChromePolicy = Type.Record(
  Type.String(),
  Type.Unsafe<unknown>({ description: 'Value of the policy, of the type it has in Chromium' }),
  {
    description:
      'Enterprise policies of the browser, by name, up to 5 MiB. Those by which Berth keeps hold of it (proxy, debugging, extensions) are refused',
  },
)
export type ChromePolicy = Static<typeof ChromePolicy>

/** An empty object asks for nothing. */
export function hasPolicy({ chrome_policy }: { readonly chrome_policy?: ChromePolicy }): boolean {
  return chrome_policy !== undefined && Object.keys(chrome_policy).length > 0
}
