// What a session brings along: a profile, extensions, a proxy. Each is offered as far as the key may see it.
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../../api/context.ts'
import { Check } from '../../../parts/Field.tsx'
import { SelectField, useProblemAt } from '../../../parts/Form.tsx'
import type { FormProps } from './draft.ts'
import { DraftField } from './DraftField.tsx'
import { Fold } from './Fold.tsx'

const MAX_OFFERED = 100

export function ProfileOptions(props: FormProps) {
  const { draft, set, isPool = false } = props
  const { client, power, projectId } = useApi()
  const { data = [] } = useQuery({
    queryKey: ['profile', 'choice', projectId ?? null, draft.profile],
    queryFn: async ({ signal }) =>
      (
        await client.profiles.list(
          { limit: 20, ...(draft.profile !== '' && { query: draft.profile }) },
          { signal },
        )
      ).getPaginatedItems(),
    enabled: power.can('profiles:read'),
  })
  return (
    <Fold title="Profile" about="cookies and logins from before" fields={['profile']}>
      <DraftField {...props} of="profile" at="profile" label="Profile" hint="Name or id" list="profiles" />
      <datalist id="profiles">
        {data.map(({ id, name }) => (
          <option key={id} value={name ?? id} />
        ))}
      </datalist>
      {!isPool && (
        <div className="form-grid">
          <Check
            label="Save changes"
            hint="When the session ends"
            isChecked={draft.saveChanges}
            onChange={(saveChanges) => set({ saveChanges })}
          />
          <Check
            label="Keep the save of others"
            hint="If another session saved first, new sessions start from that save"
            isChecked={draft.keepsOther}
            isDisabled={!draft.saveChanges}
            onChange={(keepsOther) => set({ keepsOther })}
          />
        </div>
      )}
    </Fold>
  )
}

export function ExtensionOptions({ draft, set }: FormProps) {
  const { client, power, projectId } = useApi()
  const canSee = power.can('extensions:read')
  const { data = [] } = useQuery({
    queryKey: ['extension', 'choice', projectId ?? null],
    queryFn: async ({ signal }) =>
      (await client.extensions.list({ limit: MAX_OFFERED }, { signal })).getPaginatedItems(),
    enabled: canSee,
  })
  const toggle = (id: string, isChosen: boolean) =>
    set({ extensions: isChosen ? [...draft.extensions, id] : draft.extensions.filter((each) => each !== id) })
  const problem = useProblemAt('extensions')
  return (
    <Fold title="Extensions" about={`${draft.extensions.length || 'none'} chosen`} fields={['extensions']}>
      {data.length === 0 && (
        <p className="quiet">
          {canSee
            ? 'The project has no extensions yet.'
            : 'This key may not see extensions: it lacks extensions:read.'}
        </p>
      )}
      <div className="form-grid">
        {data.map(({ id, name }) => (
          <Check
            key={id}
            label={name ?? id}
            isChecked={draft.extensions.includes(id)}
            onChange={(isChosen) => toggle(id, isChosen)}
          />
        ))}
      </div>
      {problem !== undefined && <p className="hint bad">{problem}</p>}
    </Fold>
  )
}

export function NetworkOptions(props: FormProps) {
  const { draft, set, isPool = false } = props
  const { client, power, projectId } = useApi()
  const { data = [] } = useQuery({
    queryKey: ['proxy', 'choice', projectId ?? null],
    queryFn: async ({ signal }) =>
      (await client.proxies.list({ limit: MAX_OFFERED }, { signal })).getPaginatedItems(),
    enabled: power.can('proxies:read'),
  })
  return (
    <Fold title="Network" about="proxy, private hosts" fields={['proxy', 'proxy_id', 'network']}>
      <SelectField
        name={isPool ? 'proxy_id' : 'proxy'}
        label="Proxy"
        isOptional
        value={draft.proxy}
        onChange={(proxy) => set({ proxy })}
        options={[
          { value: '', text: 'As usual' },
          ...(isPool
            ? []
            : [
                { value: 'mode:default', text: 'Default proxy of stealth sessions' },
                { value: 'mode:direct', text: 'None' },
              ]),
          ...data.map(({ id, name, type }) => ({ value: `id:${id}`, text: `${name ?? id} (${type})` })),
        ]}
      />
      <Check
        label="Choose the private hosts"
        hint="Destinations to reach without the proxy, instead of all private addresses"
        isChecked={draft.hasPrivateHosts}
        onChange={(hasPrivateHosts) => set({ hasPrivateHosts })}
      />
      {draft.hasPrivateHosts && (
        <DraftField
          {...props}
          of="privateHosts"
          at="network"
          label="Private hosts"
          hint="Hosts, *.domains, addresses or CIDRs; empty for none"
          lines={2}
        />
      )}
    </Fold>
  )
}
