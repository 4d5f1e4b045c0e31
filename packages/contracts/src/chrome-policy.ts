// Enterprise policies of a session's Chromium, by name.
import { Type, type Static } from 'typebox'

/** Size of the policies as JSON. */
export const MAX_POLICY_BYTES = 5 * 1024 * 1024

export const ChromePolicy = Type.Record(
  Type.String(),
  Type.Unsafe<unknown>({ description: 'Value of the policy; must have the type that Chromium expects' }),
  {
    description:
      'Chrome enterprise policies by name, up to 5 MiB. Policies that Berth itself depends on (proxy, debugging, extensions) are rejected',
  },
)
export type ChromePolicy = Static<typeof ChromePolicy>

/** An empty object counts as no policy. */
export function hasPolicy({ chrome_policy }: { readonly chrome_policy?: ChromePolicy }): boolean {
  return chrome_policy !== undefined && Object.keys(chrome_policy).length > 0
}
