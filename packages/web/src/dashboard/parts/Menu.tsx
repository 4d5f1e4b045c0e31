import type { ReactNode } from 'react'
import { DropdownMenu } from 'radix-ui'
import { Icon, type IconName } from './Icon.tsx'

export interface MenuItem {
  readonly text: string
  readonly icon?: IconName
  readonly isDanger?: boolean
  readonly isDisabled?: boolean
  readonly onSelect: () => void
}

export interface MenuProps {
  readonly label: string
  readonly items: readonly MenuItem[]
  /** Three dots when omitted. */
  readonly children?: ReactNode
}

export function Menu({ label, items, children }: MenuProps) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className={children === undefined ? 'plain' : ''} title={label}>
        {/* The name says what it is, and has the text that everybody sees. */}
        <span className="unseen">{label} </span>
        {children ?? <Icon name="more" />}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          {items.map(({ text, icon, isDanger, isDisabled, onSelect }) => (
            <DropdownMenu.Item
              key={text}
              className={isDanger ? 'danger' : ''}
              disabled={isDisabled ?? false}
              onSelect={onSelect}
            >
              {icon && <Icon name={icon} size={16} />}
              {text}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
