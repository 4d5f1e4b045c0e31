// The command palette: Ctrl-K goes to any page, does what can be done, and finds sessions by their name or id.
import { useEffect, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useApi } from '../api/context.ts'
import { useLeave } from '../api/use-leave.ts'
import { Icon } from '../parts/Icon.tsx'
import { keepProject } from '../parts/project.ts'
import { setTheme, themes, themeWords } from '../parts/theme.ts'
import { sayProblem } from '../parts/toasts.ts'
import { acts, parts, type PaletteItem } from './acts.ts'
import { nav } from './nav.ts'

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

export function Palette() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      setOpen((open) => !open)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <button type="button" className="search-button" onClick={() => setOpen(true)}>
        <Icon name="search" size={16} /> Go to… <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {isOpen && <PaletteDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function PaletteDialog({ onClose }: { onClose: () => void }) {
  const { client, power, projectId } = useApi()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const canSee = power.can('browsers:read')
  const { data: sessions = [] } = useQuery({
    queryKey: ['browser', 'palette', projectId ?? null, text],
    queryFn: async () =>
      (
        await client.browsers.list({ limit: 8, status: 'all', ...(text !== '' && { query: text }) })
      ).getPaginatedItems(),
    enabled: canSee,
  })
  const go = (to: string, search: object = {}) => {
    onClose()
    void navigate({ to, search: (old: { project?: string }) => ({ ...keepProject(old), ...search }) })
  }
  const leave = useLeave()
  const mayUse = ({ scope, isForOrganization = false }: PaletteItem) =>
    power.can(scope) && (power.isOrganization || !isForOrganization)
  const itemOf = ({ text: name, icon, path, search }: PaletteItem) => (
    <Command.Item key={name} onSelect={() => go(path, search)}>
      <Icon name={icon} /> {name}
    </Command.Item>
  )
  return (
    <Command.Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      label="Go to"
      overlayClassName="veil"
      contentClassName="palette"
      loop
    >
      <Command.Input
        placeholder="A page, something to do, or a session’s name or id"
        value={text}
        onValueChange={setText}
      />
      <Command.List>
        <Command.Empty>Nothing has that name.</Command.Empty>
        <Command.Group heading="Pages">
          {nav
            .flat()
            .filter(({ scope }) => scope === undefined || power.can(scope))
            .map(({ path, text: name, icon }) => (
              <Command.Item key={path} onSelect={() => go(path)}>
                <Icon name={icon} /> {name}
              </Command.Item>
            ))}
          {parts.filter(mayUse).map(itemOf)}
        </Command.Group>
        <Command.Group heading="Do">
          {acts.filter(mayUse).map(itemOf)}
          {themes.map((each) => (
            <Command.Item
              key={each}
              onSelect={() => {
                setTheme(each)
                onClose()
              }}
            >
              <Icon name="sun" /> {themeWords[each]}
            </Command.Item>
          ))}
          <Command.Item onSelect={() => window.open('/docs', '_blank', 'noreferrer')}>
            <Icon name="book" /> Read the documentation
          </Command.Item>
          <Command.Item onSelect={() => void leave().catch(sayProblem)}>
            <Icon name="out" /> Sign out
          </Command.Item>
        </Command.Group>
        {sessions.length > 0 && (
          <Command.Group heading="Sessions">
            {sessions.map(({ session_id: id, name, deleted_at: endedAt }) => (
              <Command.Item key={id} value={`${name ?? ''} ${id}`} onSelect={() => go(`/sessions/${id}`)}>
                <Icon name="sessions" /> {name ?? id}
                {endedAt !== undefined && endedAt !== null && <small className="quiet">ended</small>}
              </Command.Item>
            ))}
          </Command.Group>
        )}
      </Command.List>
    </Command.Dialog>
  )
}
