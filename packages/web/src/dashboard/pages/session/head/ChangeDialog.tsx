// What can be changed while a session runs. Only what was changed is sent.
import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useApi, useAsk } from '../../../api/context.ts'
import { FormDialog, SelectField, TextField } from '../../../parts/Form.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { pathOf, useSession, type Session } from '../session.ts'

const MAX_OFFERED = 100

interface Texts {
  readonly timeout: string
  readonly width: string
  readonly height: string
  /** `id:` and the id of a proxy, `direct`, or `default`. */
  readonly proxy: string
  readonly url: string
}

const textsOf = ({ timeout_seconds: timeout, viewport, proxy }: Session): Texts => ({
  timeout: String(timeout),
  width: String(viewport?.width ?? ''),
  height: String(viewport?.height ?? ''),
  proxy: proxy?.id === undefined ? (proxy?.mode ?? 'default') : `id:${proxy.id}`,
  url: '',
})

function changesOf(before: Texts, { timeout, width, height, proxy, url }: Texts): object {
  return {
    ...(timeout !== before.timeout && { timeout_seconds: Number(timeout) }),
    ...((width !== before.width || height !== before.height) && {
      // An open live view is no reason not to: the person sees what it does.
      viewport: { width: Number(width), height: Number(height), force: true },
    }),
    ...(proxy !== before.proxy && {
      proxy: proxy.startsWith('id:') ? { id: proxy.slice('id:'.length) } : { mode: proxy },
    }),
    ...(url.trim() !== '' && { start_url: url.trim() }),
  }
}

export function ChangeDialog({ onClose }: { onClose: () => void }) {
  const session = useSession()
  const ask = useAsk()
  const [before] = useState(() => textsOf(session))
  const [texts, setTexts] = useState(before)
  const field = (name: keyof Texts) => ({
    value: texts[name],
    onChange: (value: string) => setTexts((old) => ({ ...old, [name]: value })),
  })
  const changes = changesOf(before, texts)
  const save = useAct({
    run: (signal: AbortSignal) => ask(pathOf(session, ''), { method: 'PATCH', signal, body: changes }),
    done: 'The session is changed',
    changes: ['browser'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Change the session"
      action="Save"
      isReady={Object.keys(changes).length > 0}
      onClose={onClose}
      onSend={async (signal) => {
        await save.mutateAsync(signal)
        onClose()
      }}
    >
      <TextField
        name="timeout_seconds"
        label="Ends after"
        hint="Seconds without use"
        isNumber
        {...field('timeout')}
      />
      <div className="form-grid">
        <TextField name="viewport.width" label="Width" isNumber isOptional {...field('width')} />
        <TextField name="viewport.height" label="Height" isNumber isOptional {...field('height')} />
      </div>
      <ProxyField {...field('proxy')} />
      <TextField
        name="start_url"
        label="Address to open now"
        placeholder="https://example.com"
        isOptional
        {...field('url')}
      />
    </FormDialog>
  )
}

function ProxyField(field: { readonly value: string; readonly onChange: (value: string) => void }) {
  const { client, power, projectId } = useApi()
  const { data = [] } = useQuery({
    queryKey: ['proxy', 'choice', projectId ?? null],
    queryFn: async ({ signal }) =>
      (await client.proxies.list({ limit: MAX_OFFERED }, { signal })).getPaginatedItems(),
    enabled: power.can('proxies:read'),
  })
  return (
    <SelectField
      name="proxy"
      label="Proxy"
      hint="Open pages use it, too."
      {...field}
      options={[
        { value: 'default', text: 'As usual' },
        { value: 'direct', text: 'None' },
        ...data.map(({ id, name, type }) => ({ value: `id:${id}`, text: `${name ?? id} (${type})` })),
      ]}
    />
  )
}
