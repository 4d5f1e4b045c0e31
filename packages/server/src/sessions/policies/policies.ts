// The policies of sessions. Chromium reads many of them only at its start and does not say which, so a session with
// policies always starts a new browser.
import { hasPolicy, MAX_POLICY_BYTES, type ChromePolicy } from '@berth/contracts/chrome-policy'
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { SessionExtra, ExtraSource } from '../browsers/extras.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { setPolicy } from '../../instances/agent/chromium.ts'
import { checkPolicy } from './check.ts'
import * as store from './store.ts'

/** Limit in lists of sessions or pools; a hundred full policies could be half a gigabyte. */
export const MAX_LISTED_BYTES = 64 * 1024

export class Policies implements ExtraSource {
  readonly #db: Db
  readonly #box: SealedBox

  constructor({ db, box }: { db: Db; box: SealedBox }) {
    this.#db = db
    this.#box = box
  }

  extraFor(body: Pick<CreateBrowserRequest, 'chrome_policy'>): Promise<SessionExtra | undefined> {
    const { chrome_policy: policy } = body
    if (!policy || !hasPolicy(body)) return Promise.resolve(undefined)
    const text = checkPolicy(policy)
    return Promise.resolve({
      needsStart: true,
      keep: (tx, { id }) =>
        store.insertPolicy(tx, {
          browserId: id,
          sealed: this.#box.seal(text, contextOf(id)),
          sizeBytes: Buffer.byteLength(text),
        }),
      bring: ({ agent }) => setPolicy(agent, policy),
    })
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

const contextOf = (browserId: string) => `browser_policies/sealed/${browserId}`
