import { useState } from 'react'
import {
  exitFieldNames,
  managedProxyTypes,
  proxyProtocols,
  type ExitField,
  type ProxyProtocol,
  type ProxyType,
} from '@berth/contracts/proxies'
import type { Entitlements } from '@berth/contracts/entitlements'
import { useQuery } from '@tanstack/react-query'
import { useAsk, usePower } from '../../api/context.ts'
import { FormDialog, SelectField, TextField } from '../../parts/Form.tsx'
import { filled, wordsOf } from '../../parts/texts.ts'
import { useAct } from '../../parts/use-act.ts'

type ManagedType = (typeof managedProxyTypes)[number]

/** Which fields choose the exit of each type. `os` and `carrier` are for old clients. */
const exitOfType: Readonly<Record<ManagedType, readonly ExitField[]>> = {
  datacenter: ['country'],
  isp: ['country'],
  residential: ['country', 'state', 'city', 'zip', 'asn'],
  mobile: ['country', 'state', 'city', 'zip', 'asn'],
}

const exitWords: Partial<Record<ExitField, { label: string; hint: string }>> = {
  country: { label: 'Country', hint: 'Two letters, such as US' },
  state: { label: 'State', hint: 'Two letters, of the US' },
  city: { label: 'City', hint: 'Without spaces, such as sanfrancisco; needs a country' },
  zip: { label: 'ZIP code', hint: 'Five digits; not with city or state' },
  asn: { label: 'Network (ASN)', hint: 'Such as AS7018; not with city or state' },
}

type Fields = Record<'name' | 'host' | 'port' | 'username' | 'password' | 'ca' | 'bypass' | ExitField, string>

const empty: Fields = {
  name: '',
  host: '',
  port: '',
  username: '',
  password: '',
  ca: '',
  bypass: '',
  ...(Object.fromEntries(exitFieldNames.map((name) => [name, ''])) as Record<ExitField, string>),
}

export function CreateProxy({ onClose }: { onClose: () => void }) {
  const ask = useAsk()
  const power = usePower()
  const { data: entitlements } = useQuery({
    queryKey: ['organization', 'entitlements'],
    enabled: power.can('projects:read'),
    queryFn: ({ signal }) => ask<Entitlements>('/org/entitlements', { signal }),
  })
  const [type, setType] = useState<ProxyType>('custom')
  const [protocol, setProtocol] = useState<ProxyProtocol>('http')
  const [fields, setFields] = useState(empty)
  const field = (name: keyof Fields) => ({
    value: fields[name],
    onChange: (value: string) => setFields((old) => ({ ...old, [name]: value })),
  })
  const hasManaged = entitlements?.features.managed_proxies.enabled ?? true
  const create = useAct({
    run: (signal: AbortSignal) =>
      ask('/proxies', { method: 'POST', body: requestOf(type, protocol, fields), signal }),
    done: 'The proxy is created',
    changes: ['proxy'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Create a proxy"
      action="Create"
      onClose={onClose}
      onSend={async (signal) => {
        await create.mutateAsync(signal)
        onClose()
      }}
    >
      <SelectField
        name="type"
        label="Type"
        hint={
          hasManaged
            ? undefined
            : 'The operator of this server has set up no other types (BERTH_PROXY_PROVIDERS).'
        }
        value={type}
        onChange={(value) => setType(value as ProxyType)}
        options={[
          { value: 'custom', text: 'A proxy of your own' },
          ...(hasManaged
            ? managedProxyTypes.map((each) => ({ value: each, text: `Of the operator: ${each}` }))
            : []),
        ]}
      />
      <TextField name="name" label="Name" isOptional autoFocus {...field('name')} />
      {type === 'custom' ? (
        <>
          <SelectField
            name="protocol"
            label="Protocol"
            value={protocol}
            onChange={(value) => setProtocol(value as ProxyProtocol)}
            options={proxyProtocols.map((each) => ({ value: each, text: each }))}
          />
          <div className="form-grid">
            <TextField name="config.host" label="Host" placeholder="proxy.example.com" {...field('host')} />
            <TextField
              name="config.port"
              label="Port"
              type="number"
              min={1}
              max={65_535}
              {...field('port')}
            />
          </div>
          <div className="form-grid">
            <TextField name="config.username" label="User name" isOptional {...field('username')} />
            <TextField
              name="config.password"
              label="Password"
              type="password"
              isOptional
              {...field('password')}
            />
          </div>
          <TextField
            name="config.ca_bundle"
            label="Certificate authorities"
            hint="PEM. For a proxy that decrypts TLS, or has a certificate of its own."
            isOptional
            isCode
            lines={3}
            {...field('ca')}
          />
        </>
      ) : (
        <div className="form-grid">
          {exitOfType[type].map((name) => (
            <TextField key={name} name={`config.${name}`} isOptional {...exitWords[name]!} {...field(name)} />
          ))}
        </div>
      )}
      <TextField
        name="bypass_hosts"
        label="Hosts that are reached without it"
        hint="Separated by spaces or commas. *.example.com means every subdomain."
        isOptional
        {...field('bypass')}
      />
    </FormDialog>
  )
}

function requestOf(type: ProxyType, protocol: ProxyProtocol, fields: Fields): object {
  const { name, bypass } = fields
  const common = {
    type,
    ...(filled(name) !== undefined && { name: filled(name) }),
    ...(bypass !== '' && { bypass_hosts: wordsOf(bypass) }),
  }
  if (type !== 'custom') {
    return {
      ...common,
      config: Object.fromEntries(exitOfType[type].flatMap((each) => entry(each, fields[each]))),
    }
  }
  const { host, port, username, password, ca } = fields
  return {
    ...common,
    protocol,
    config: Object.fromEntries([
      ['host', host.trim()],
      ['port', Number(port)],
      ...entry('username', username),
      ...entry('password', password),
      ...entry('ca_bundle', ca),
    ]),
  }
}

const entry = (name: string, value: string): [string, string][] => (value === '' ? [] : [[name, value]])
