// Where the audit log may be exported to: any public address over https, and what the operator lists.
import { directOptions } from './instances/module.ts'
import { EgressPolicy } from './instances/egress/policy.ts'
import { PerCallUpstream } from './instances/egress/per-call-upstream.ts'
import { toRefusal } from './instances/egress/refusal.ts'
import { readConnectTarget } from './instances/egress/target.ts'
import type { Config } from './config/config.ts'
import { ConnectRefused } from './platform/s3/failure.ts'
import type { ExportNetwork } from './tenancy/audit/export/types.ts'

const CONNECT_MS = 20_000

/** What sessions may reach (BERTH_EGRESS_ALLOW) is no reason for the server to send its audit log there. */
export function newAuditExportNetwork(config: Config): ExportNetwork {
  const policy = new EgressPolicy({
    allow: config.BERTH_AUDIT_EXPORT_ALLOW,
    listedIn: 'BERTH_AUDIT_EXPORT_ALLOW',
  })
  const upstream = new PerCallUpstream({ ...directOptions(config), policy })
  return {
    refusalOf: (url) => {
      try {
        const target = readConnectTarget(
          `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`,
        )
        const verdict = policy.judgeTarget(target)
        if (!verdict.allowed) {
          return `cannot be reached: ${verdict.reason}. The operator can allow it with BERTH_AUDIT_EXPORT_ALLOW`
        }
        if (url.protocol === 'http:' && policy.isOpenToAll(target)) {
          return 'must be https, or the audit log would be there to read on its way; http is for private servers that are listed as host:port in BERTH_AUDIT_EXPORT_ALLOW'
        }
        return undefined
      } catch (error) {
        return toRefusal(error, url.hostname).message
      }
    },
    connect: async (host, port) => {
      try {
        const target = readConnectTarget(`${host.includes(':') ? `[${host}]` : host}:${port}`)
        return await upstream.connect(target, AbortSignal.timeout(CONNECT_MS))
      } catch (error) {
        throw new ConnectRefused(toRefusal(error, host).message, { cause: error })
      }
    },
  }
}
