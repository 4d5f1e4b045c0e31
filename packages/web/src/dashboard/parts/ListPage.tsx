// The page of a list: what it is, how to add to it, and the rows.
import type { ReactNode } from 'react'
import { Icon } from './Icon.tsx'
import { List, type ListProps } from './List.tsx'
import { Page } from './Page.tsx'
import { useUrl } from './use-url.ts'

export interface ListPageProps<Row> extends Omit<ListProps<Row>, 'label'> {
  /** The plural; also the name of the table. */
  readonly title: string
  readonly about: string
  /** The words on the button that creates one; omitted when the key may not. */
  readonly create?: string | undefined
  /** In place of that button. */
  readonly actions?: ReactNode
  /** Dialogs. */
  readonly children?: ReactNode
}

export function ListPage<Row>({ title, about, create, actions, children, ...list }: ListPageProps<Row>) {
  return (
    <Page
      title={title}
      about={about}
      isFull
      actions={actions ?? (create !== undefined && <CreateButton text={create} />)}
    >
      <List {...list} label={title} />
      {children}
    </Page>
  )
}

/** Opens the form that the address calls `create`. */
export function CreateButton({ text }: { text: string }) {
  const url = useUrl()
  return (
    <button type="button" className="primary" onClick={() => url.set({ create: true })}>
      <Icon name="plus" size={16} /> {text}
    </button>
  )
}
