// What a key may do, family by family. Changing includes reading.
import { scopeFamilies, type Scope, type ScopeFamily } from '@berth/contracts/scopes'
import { usePower } from '../../api/context.ts'

const familyWords: Readonly<Record<ScopeFamily, string>> = {
  browsers: 'Sessions and pools',
  profiles: 'Profiles',
  extensions: 'Extensions',
  proxies: 'Proxies',
  logins: 'Logins',
  credentials: 'Credentials',
  apps: 'Apps',
  webhooks: 'Webhooks',
  projects: 'Projects and limits',
  api_keys: 'API keys',
  audit_logs: 'Audit log',
}

type Access = 'none' | 'read' | 'write'
const accessWords: Readonly<Record<Access, string>> = { none: 'Nothing', read: 'Read', write: 'Change' }

export type Accesses = Readonly<Record<ScopeFamily, Access>>

export const noAccess = Object.fromEntries(scopeFamilies.map((family) => [family, 'none'])) as Accesses

export function scopesOf(accesses: Accesses): Scope[] {
  const reads = scopeFamilies.filter((family) => accesses[family] !== 'none')
  const writes = scopeFamilies.filter((family) => accesses[family] === 'write')
  if (reads.length === scopeFamilies.length)
    return ['read', ...writes.map((family): Scope => `${family}:write`)]
  return reads.map((family): Scope => (writes.includes(family) ? `${family}:write` : `${family}:read`))
}

export interface ScopeTreeProps {
  readonly accesses: Accesses
  readonly onChange: (accesses: Accesses) => void
}

export function ScopeTree({ accesses, onChange }: ScopeTreeProps) {
  const power = usePower()
  const allowed = (family: ScopeFamily, access: Access) =>
    access === 'none' || power.can(`${family}:${access}`)
  const setAll = (access: Access) =>
    onChange(
      Object.fromEntries(
        scopeFamilies.map((family) => [family, allowed(family, access) ? access : accesses[family]]),
      ) as Accesses,
    )
  return (
    <fieldset>
      <legend>What it may do</legend>
      <p className="actions">
        All:
        {(['none', 'read', 'write'] as const).map((access) => (
          <button key={access} type="button" onClick={() => setAll(access)}>
            {accessWords[access]}
          </button>
        ))}
      </p>
      {scopeFamilies.map((family) => (
        <div key={family} className="scope-row" role="radiogroup" aria-label={familyWords[family]}>
          <span>{familyWords[family]}</span>
          {(['none', 'read', 'write'] as const).map((access) => (
            <label key={access} title={allowed(family, access) ? undefined : 'Your own key may not do this'}>
              <input
                type="radio"
                name={`scope-${family}`}
                checked={accesses[family] === access}
                disabled={!allowed(family, access)}
                onChange={() => onChange({ ...accesses, [family]: access })}
              />
              {accessWords[access]}
            </label>
          ))}
        </div>
      ))}
    </fieldset>
  )
}
