// The policies that Chromium knows; scripts/chrome-policies.ts reads them from Chromium. Policies of other versions are
// ignored, see check.ts.
import known from './known.json' with { type: 'json' }

export type PolicyType = 'boolean' | 'integer' | 'number' | 'string' | 'list' | 'dictionary'

// SAFETY: that script writes no other types.
export const policyTypes = new Map(Object.entries(known) as [string, PolicyType][])
