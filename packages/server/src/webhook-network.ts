// Where webhooks may lead: any public address over https, and what the operator lists.
import { EgressPolicy } from './instances/egress/policy.ts'
import { PerCallUpstream } from './instances/egress/per-call-upstream.ts'
import { EgressRefusal, toRefusal } from './instances/egress/refusal.ts'
import { readConnectTarget, type Target } from './instances/egress/target.ts'
import { DirectUpstream } from './instances/egress/upstream.ts'
import { newSystemNames } from './instances/module.ts'
import type { Config } from './config/config.ts'
import { Unreachable, type WebhookNetwork } from './tenancy/webhooks/types.ts'

/** What sessions may reach (BERTH_EGRESS_ALLOW) is no reason for the server to send anything there. */
export function newWebhookNetwork(config: Config): WebhookNetwork {
  const policy = new EgressPolicy({ allow: config.BERTH_WEBHOOK_ALLOW, listedIn: 'BERTH_WEBHOOK_ALLOW' })
  const direct = { policy, names: newSystemNames(config) }
  const upstream = new PerCallUpstream(direct)
  return {
    refusalOf: async (url, signal) => {
      using names = new DirectUpstream(direct)
      try {
        const target = targetOf(url)
        await names.resolve(target, signal)
        if (url.protocol === 'http:' && policy.isOpenToAll(target)) {
          return 'must be https, or its events could be read on their way; http is for private receivers that are listed in BERTH_WEBHOOK_ALLOW'
        }
        return undefined
      } catch (error) {
        if (!(error instanceof EgressRefusal)) throw error
        const remedy =
          error.code === 'egress_denied' ? '; the operator can allow it with BERTH_WEBHOOK_ALLOW' : ''
        return `cannot be used: ${error.message}${remedy}`
      }
    },
    connect: async (url, signal) => {
      try {
        return await upstream.connect(targetOf(url), signal)
      } catch (error) {
        signal.throwIfAborted()
        throw new Unreachable(toRefusal(error, url.hostname).message, { cause: error })
      }
    },
  }
}

function targetOf(url: URL): Target {
  return readConnectTarget(`${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`)
}
