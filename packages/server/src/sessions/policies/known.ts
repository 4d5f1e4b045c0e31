// The policies that Chromium knows, by its own word: scripts/chrome-policies.ts asks it. A policy that came or went
// with another version of it is passed over, see check.ts.
import known from './known.json' with { type: 'json' }

export type PolicyType = 'boolean' | 'integer' | 'number' | 'string' | 'list' | 'dictionary'

// SAFETY: written by that script, which knows no others.
export const policyTypes = new Map(Object.entries(known) as [string, PolicyType][])
