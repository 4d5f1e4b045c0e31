// Tabs whose choice is in the address.
import { useId, type KeyboardEvent, type ReactNode } from 'react'
import { useUrl } from './use-url.ts'

export interface Tab {
  readonly id: string
  readonly text: string
  readonly render: () => ReactNode
}

export function Tabs({ label, tabs, name = 'tab' }: { label: string; tabs: readonly Tab[]; name?: string }) {
  const url = useUrl()
  const id = useId()
  const chosen = tabs.find((tab) => tab.id === url.text(name)) ?? tabs[0]!
  const choose = (tab: Tab) => url.set({ [name]: tab === tabs[0] ? undefined : tab.id })
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const next = tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length]!
    choose(next)
    document.getElementById(`${id}-${next.id}`)?.focus()
  }
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => choose(tab)}
          >
            {tab.text}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen.id}`} className="tab-panel">
        {chosen.render()}
      </div>
    </>
  )
}
