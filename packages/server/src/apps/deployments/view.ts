import { REGION } from '@berth/contracts/apps'
import type { Deployment } from '@berth/contracts/deployments'
import { blanked } from '../core/service.ts'
import type { DeploymentRecord } from './types.ts'

export function toDeployment(record: DeploymentRecord): Deployment {
  return {
    id: record.id,
    status: record.status,
    ...(record.status_reason !== null && { status_reason: record.status_reason }),
    region: REGION,
    entrypoint_rel_path: record.entrypoint,
    env_vars: blanked(record.env_names),
    created_at: record.created_at,
    updated_at: record.updated_at,
    source_type: record.source_type,
    ...(record.source_url !== null && { source_url: record.source_url }),
    ...(record.source_ref !== null && { source_ref: record.source_ref }),
    ...(record.source_path !== null && { source_path: record.source_path }),
    ...(record.source_checksum !== null && { source_checksum: record.source_checksum }),
  }
}
