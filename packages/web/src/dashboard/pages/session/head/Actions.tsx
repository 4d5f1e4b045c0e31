// What can be done with the whole session.
import { useState } from 'react'
import { useApi, useAsk } from '../../../api/context.ts'
import { Confirm } from '../../../parts/Dialog.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { Menu, type MenuItem } from '../../../parts/Menu.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { hasEnded, pathOf, useReplays, useSession } from '../session.ts'
import { ChangeDialog } from './ChangeDialog.tsx'
import { NameDialog } from './NameDialog.tsx'
import { TagsDialog } from './TagsDialog.tsx'

type Open = 'change' | 'name' | 'tags' | 'end' | 'save' | undefined

export function Actions() {
  const session = useSession()
  const { client, power } = useApi()
  const ask = useAsk()
  const [open, setOpen] = useState<Open>()
  const { data: replays = [] } = useReplays(session.session_id)
  const id = session.session_id
  const running = replays.find(({ finished_at: at }) => at === null || at === undefined)
  const start = useAct({
    run: () => client.browsers.replays.start(id),
    done: 'The recording runs',
    changes: ['replay'],
  })
  const stop = useAct({
    run: (replayId: string) => client.browsers.replays.stop(replayId, { id }),
    done: 'The recording is kept',
    changes: ['replay'],
  })
  if (hasEnded(session) || !power.can('browsers:write')) return null
  const close = () => setOpen(undefined)
  const items: MenuItem[] = [
    { text: 'Change', icon: 'settings', onSelect: () => setOpen('change') },
    { text: 'Rename', icon: 'file', onSelect: () => setOpen('name') },
    { text: 'Edit tags', icon: 'credentials', onSelect: () => setOpen('tags') },
    ...(session.profile && power.can('profiles:write')
      ? [{ text: 'Save profile now', icon: 'profiles' as const, onSelect: () => setOpen('save') }]
      : []),
    { text: 'End session', icon: 'stop', isDanger: true, onSelect: () => setOpen('end') },
  ]
  return (
    <>
      {running ? (
        <button type="button" disabled={stop.isPending} onClick={() => stop.mutate(running.replay_id)}>
          <Icon name="stop" size={15} /> Stop recording
        </button>
      ) : (
        <button type="button" disabled={start.isPending} onClick={() => start.mutate()}>
          <Icon name="play" size={15} /> Record
        </button>
      )}
      <button type="button" className="danger" onClick={() => setOpen('end')}>
        End session
      </button>
      <Menu label="More" items={items} />
      {open === 'change' && <ChangeDialog onClose={close} />}
      {open === 'name' && <NameDialog onClose={close} />}
      {open === 'tags' && <TagsDialog onClose={close} />}
      <EndConfirm isOpen={open === 'end'} onClose={close} />
      <Confirm
        title="Save the profile now"
        text="The browser is restarted with its tabs, because its data is complete only after it has stopped. Clients are disconnected and must connect again."
        action="Save profile"
        isOpen={open === 'save'}
        onClose={close}
        onConfirm={() => ask(pathOf(session, '/profile/save'), { method: 'POST', body: {} })}
      />
    </>
  )
}

function EndConfirm({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const session = useSession()
  const { client } = useApi()
  const end = useAct({
    run: () => client.browsers.deleteByID(session.session_id),
    done: 'The session has ended',
    changes: ['browser', 'replay'],
    isQuiet: true,
  })
  return (
    <Confirm
      title="End this session"
      text={
        session.profile_save_changes === true
          ? 'The browser stops, and its profile is saved. Recordings and events stay. Files of the session are gone.'
          : 'The browser stops. Recordings and events stay. Tabs and files of the session are gone.'
      }
      action="End session"
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => end.mutateAsync()}
    />
  )
}
