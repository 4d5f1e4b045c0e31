// What a key may do: reading, or reading and changing, by family of resources.
import { Type } from 'typebox'
import type { Effect } from './operation.ts'
import { OneOf } from './schema.ts'

/** Each family with the tags of its operations. */
const families = {
  browsers: [
    'Browsers',
    'Browser pools',
    'Computer',
    'Files',
    'Processes',
    'Logs',
    'Code',
    'Requests',
    'Replays',
    'Telemetry',
  ],
  profiles: ['Profiles'],
  extensions: ['Extensions'],
  proxies: ['Proxies'],
  logins: ['Auth connections', 'Auth agents'],
  credentials: ['Credentials', 'Credential providers'],
  apps: ['Deployments', 'Apps', 'Invocations'],
  webhooks: ['Webhooks'],
  projects: ['Projects', 'Organisation', 'System'],
  api_keys: ['API keys'],
  audit_logs: ['Audit log'],
} as const satisfies Record<string, readonly string[]>

export type ScopeFamily = keyof typeof families
/** What one operation needs. */
export type OperationScope = `${ScopeFamily}:${'read' | 'write'}`
/** What a key can have. `read` is the reading of every family. */
export type Scope = 'read' | OperationScope

export const scopeFamilies = Object.keys(families) as ScopeFamily[]

export const scopes: readonly Scope[] = [
  'read',
  ...scopeFamilies.flatMap((family): Scope[] => [`${family}:read`, `${family}:write`]),
]

const familyOfTag = new Map(
  Object.entries(families).flatMap(([family, tags]) =>
    tags.map((tag) => [tag as string, family as ScopeFamily]),
  ),
)

/** Null for an unknown tag: only a key without limits may then call the operation. */
export function derivedScope({ tag, effect }: { tag: string; effect: Effect }): OperationScope | null {
  const family = familyOfTag.get(tag)
  // A control can do anything inside the instance, whatever its method.
  return family === undefined ? null : `${family}:${effect === 'read' ? 'read' : 'write'}`
}

/** All that these scopes allow. Who may change a family may also read it. */
export function expandScopes(granted: readonly Scope[]): ReadonlySet<OperationScope> {
  return new Set(
    granted.flatMap((scope): OperationScope[] => {
      if (scope === 'read') return scopeFamilies.map((family): OperationScope => `${family}:read`)
      const [family, access] = scope.split(':') as [ScopeFamily, 'read' | 'write']
      return access === 'write' ? [`${family}:read`, `${family}:write`] : [`${family}:read`]
    }),
  )
}

/** Those of `wanted` that `granted` does not allow. Null means everything. */
export function scopesBeyond(
  wanted: readonly Scope[] | null,
  granted: readonly Scope[] | null,
): readonly Scope[] | 'everything' {
  if (granted === null) return []
  if (wanted === null) return 'everything'
  const allowed = expandScopes(granted)
  return wanted.filter((scope) => !expandScopes([scope]).isSubsetOf(allowed))
}

export const ScopeList = Type.Array(OneOf(scopes, { description: 'A scope' }), {
  minItems: 1,
  maxItems: scopes.length,
  uniqueItems: true,
  description:
    'What the key may do: `read` everything, or `read` or `write` one family of resources. `write` includes `read`',
})
