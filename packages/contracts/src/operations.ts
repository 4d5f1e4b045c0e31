// The one table of operations. What is not here does not exist.
import * as apiKeys from './api-keys.ts'
import * as auditLogs from './audit-logs.ts'
import * as browsers from './browsers.ts'
import type { Operation } from './operation.ts'
import * as organization from './organization.ts'
import * as projects from './projects.ts'
import * as system from './system.ts'

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value
}

export const operations: readonly Operation[] = [browsers, projects, organization, apiKeys, auditLogs, system]
  .flatMap((module) => Object.values(module) as unknown[])
  .filter(isOperation)
