// The policies of sessions. Chromium reads many of them only at its start and does not say which, so a session with
// policies always starts a new browser.
import { hasPolicy, MAX_POLICY_BYTES, type ChromePolicy } from '@berth/contracts/chrome-policy'
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { SessionExtra, ExtraSource, LookUp } from '../browsers/extras.ts'
import type { NewBrowser } from '../browsers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { setPolicy } from '../../instances/agent/chromium.ts'
import { checkPolicy } from './check.ts'
import * as store from './store.ts'

/** Limit in lists of sessions or pools; a hundred full policies could be half a gigabyte. */
export const MAX_LISTED_BYTES = 64 * 1024

export interface PoliciesOptions {
  readonly db: Db
  readonly box: SealedBox
  /** Certificate authorities that a session trusts besides the usual ones, in base64. */
  readonly authoritiesOf: (db: Db, browser: NewBrowser) => Promise<readonly string[]>
}

export class Policies implements ExtraSource {
  readonly #db: Db
  readonly #box: SealedBox
  readonly #authoritiesOf: PoliciesOptions['authoritiesOf']

  constructor({ db, box, authoritiesOf }: PoliciesOptions) {
    this.#db = db
    this.#box = box
    this.#authoritiesOf = authoritiesOf
  }

  async extraFor(
    body: Pick<CreateBrowserRequest, 'chrome_policy'>,
    browser: NewBrowser,
    { db }: Pick<LookUp, 'db'>,
  ): Promise<SessionExtra | undefined> {
    const policy = hasPolicy(body) ? body.chrome_policy : undefined
    const authorities = browser.proxyId === null ? [] : await this.#authoritiesOf(db, browser)
    if (!policy && authorities.length === 0) return undefined
    const text = policy && checkPolicy(policy)
    return {
      needsStart: true,
      ...(text !== undefined && {
        keep: (tx: Db, { id }: { id: string }) =>
          store.insertPolicy(tx, {
            browserId: id,
            sealed: this.#box.seal(text, contextOf(id)),
            sizeBytes: Buffer.byteLength(text),
          }),
      }),
      bring: ({ agent }) => setPolicy(agent, trusting(policy ?? {}, authorities)),
    }
  }

  /** Keyed by session id. A list contains only small policies. */
  async of(
    browsers: readonly { id: string; has_chrome_policy: boolean }[],
    { isList }: { isList: boolean },
  ): Promise<Map<string, ChromePolicy>> {
    const ids = browsers.filter((each) => each.has_chrome_policy).map(({ id }) => id)
    if (ids.length === 0) return new Map()
    const maxBytes = isList ? MAX_LISTED_BYTES : MAX_POLICY_BYTES
    const rows = await store.findPolicies(this.#db, ids, { maxBytes })
    return new Map(
      rows.map(({ browser_id: id, sealed }) => [
        id,
        JSON.parse(this.#box.open(sealed, contextOf(id))) as ChromePolicy,
      ]),
    )
  }
}

/** The policy is Chromium's own way to trust authorities in one browser; it is not in the profile. */
function trusting(policy: ChromePolicy, authorities: readonly string[]): ChromePolicy {
  if (authorities.length === 0) return policy
  const { CACertificates: others = [] } = policy
  // SAFETY: checkPolicy has seen a list.
  return { ...policy, CACertificates: [...(others as unknown[]), ...authorities] }
}

const contextOf = (browserId: string) => `browser_policies/sealed/${browserId}`
