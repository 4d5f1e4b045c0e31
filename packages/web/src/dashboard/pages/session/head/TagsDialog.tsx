import { useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { Dialog } from '../../../parts/Dialog.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { ErrorNote } from '../../../parts/Notes.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { useSession } from '../session.ts'

interface Tag {
  readonly key: number
  readonly name: string
  readonly value: string
}

let lastKey = 0
const newTag = (name = '', value = ''): Tag => ({ key: ++lastKey, name, value })

export function TagsDialog({ onClose }: { onClose: () => void }) {
  const session = useSession()
  const { client } = useApi()
  const [tags, setTags] = useState(() => [
    ...Object.entries(session.tags ?? {}).map(([name, value]) => newTag(name, value)),
    newTag(),
  ])
  const save = useAct({
    run: () =>
      client.browsers.update(session.session_id, {
        tags: Object.fromEntries(
          tags.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]),
        ),
      }),
    done: 'The tags are saved',
    changes: ['browser'],
    onDone: onClose,
    isQuiet: true,
  })
  const change = (key: number, part: Partial<Tag>) =>
    setTags(tags.map((tag) => (tag.key === key ? { ...tag, ...part } : tag)))
  return (
    <Dialog title="Edit tags" isOpen onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        {tags.map(({ key, name, value }, index) => (
          <div className="tag-row" key={key}>
            <input
              aria-label={`Name of tag ${index + 1}`}
              placeholder="Name"
              value={name}
              maxLength={255}
              onChange={({ target }) => change(key, { name: target.value })}
            />
            <input
              aria-label={`Value of tag ${index + 1}`}
              placeholder="Value"
              value={value}
              maxLength={255}
              onChange={({ target }) => change(key, { value: target.value })}
            />
            <button
              type="button"
              className="plain"
              aria-label={`Remove tag ${index + 1}`}
              onClick={() => setTags(tags.filter((tag) => tag.key !== key))}
            >
              <Icon name="close" size={16} />
            </button>
          </div>
        ))}
        {save.error !== null && <ErrorNote error={save.error} />}
        <footer>
          <button type="button" disabled={tags.length >= 50} onClick={() => setTags([...tags, newTag()])}>
            <Icon name="plus" size={15} /> Add a tag
          </button>
          <button type="submit" className="primary" disabled={save.isPending}>
            Save tags
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
