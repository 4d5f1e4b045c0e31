import { useState } from 'react'
import type { Proxy } from '@berth/contracts/proxies'
import { useApi } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { Form, TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'
import { Pending } from '../../parts/Notes.tsx'
import { Facts } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { useOne } from '../../parts/use-one.ts'
import { exitOf, titleOf } from './proxy.ts'
import { ProxyState } from './ProxyState.tsx'
import { ProxyUses } from './ProxyUses.tsx'
import { useCheck } from './use-check.ts'

export function ProxyDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const { client, power } = useApi()
  const query = useOne<Proxy>(['proxy', id], async (signal) => {
    // SAFETY: as in the list.
    return (await client.proxies.retrieve(id, { signal })) as Proxy
  })
  const { data: proxy } = query
  return (
    <Dialog title={proxy ? titleOf(proxy) : 'Proxy'} isOpen isWide onClose={onClose}>
      {proxy ? (
        <>
          <Facts
            facts={[
              ['State', <ProxyState key="state" proxy={proxy} />],
              ['Checked', proxy.last_checked && <Time at={proxy.last_checked} />],
              ['Public address', proxy.ip_address],
              ['Type', proxy.type],
              ['Protocol', proxy.protocol],
              ['Exit', exitOf(proxy)],
              ['User name', proxy.config.username],
              ['Password', proxy.config.has_password ? 'Set' : undefined],
              ['Certificate authorities', proxy.config.has_ca_bundle ? 'Added' : undefined],
              ['Not through the proxy', proxy.bypass_hosts.join(', ')],
              ['Created', <Time key="created" at={proxy.created_at} />],
              ['Id', <Copyable key="id" text={proxy.id} />],
            ]}
          />
          {power.can('proxies:write') && <CheckForm id={proxy.id} />}
          <h3>Where it is used</h3>
          <ProxyUses id={proxy.id} />
        </>
      ) : (
        <Pending query={query} what="the proxy" />
      )}
    </Dialog>
  )
}

function CheckForm({ id }: { id: string }) {
  const check = useCheck(id)
  const [url, setUrl] = useState('')
  return (
    <Form
      action={check.isPending ? 'Checking…' : 'Check'}
      isReady={!check.isPending}
      onSend={() => check.mutateAsync(filled(url)).catch(() => undefined)}
    >
      <TextField
        name="url"
        label="Website to reach through it"
        hint="Without one, the check finds the public address and is remembered."
        isOptional
        placeholder="https://example.com"
        value={url}
        onChange={setUrl}
      />
    </Form>
  )
}
