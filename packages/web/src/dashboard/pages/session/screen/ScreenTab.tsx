// The clipboard of the session, and pictures of its screen.
import { useEffect, useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { CopyButton } from '../../../parts/Copy.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { Card } from '../../../parts/Page.tsx'
import { say, sayProblem } from '../../../parts/toasts.ts'
import { useAct } from '../../../parts/use-act.ts'
import { useSession } from '../session.ts'
import './screen.css'

export default function ScreenTab() {
  return (
    <div className="tab-scroll">
      <Screenshot />
      <ClipboardCard />
    </div>
  )
}

interface Picture {
  readonly blob: Blob
  readonly url: string
  readonly at: Date
}

function Screenshot() {
  const session = useSession()
  const { client } = useApi()
  const [picture, setPicture] = useState<Picture>()
  useEffect(() => () => URL.revokeObjectURL(picture?.url ?? ''), [picture])
  const take = useAct({
    run: async () => {
      const answer = await client.browsers.computer.captureScreenshot(session.session_id)
      const blob = new Blob([await answer.arrayBuffer()], { type: 'image/png' })
      setPicture({ blob, url: URL.createObjectURL(blob), at: new Date() })
    },
  })
  return (
    <Card
      title="Screenshot"
      actions={
        <div className="actions">
          <button type="button" className="primary" disabled={take.isPending} onClick={() => take.mutate()}>
            {take.isPending ? 'Taking' : 'Take a screenshot'}
          </button>
          {picture && (
            <>
              <button type="button" onClick={() => void copy(picture.blob).catch(sayProblem)}>
                <Icon name="copy" size={15} /> Copy
              </button>
              <a className="button" href={picture.url} download={`${session.session_id}.png`}>
                <Icon name="download" size={15} /> Download
              </a>
            </>
          )}
        </div>
      }
    >
      {picture ? (
        <img
          className="screenshot"
          src={picture.url}
          alt={`The screen at ${picture.at.toLocaleTimeString()}`}
        />
      ) : (
        <p className="quiet">It shows the whole screen, with the bars of the browser.</p>
      )}
    </Card>
  )
}

function ClipboardCard() {
  const session = useSession()
  const { client } = useApi()
  const [text, setText] = useState('')
  const read = useAct({
    run: async () => setText((await client.browsers.computer.readClipboard(session.session_id)).text),
    done: 'This is the clipboard of the session',
  })
  const write = useAct({
    run: () => client.browsers.computer.writeClipboard(session.session_id, { text }),
    done: 'The clipboard of the session has this text',
  })
  return (
    <Card
      title="Clipboard"
      actions={
        <div className="actions">
          <button type="button" disabled={read.isPending} onClick={() => read.mutate()}>
            Read
          </button>
          <button type="button" disabled={write.isPending} onClick={() => write.mutate()}>
            Write
          </button>
          <CopyButton text={() => text} label="Copy to your own clipboard" />
        </div>
      }
    >
      <textarea
        className="clipboard"
        aria-label="Text of the clipboard"
        rows={6}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </Card>
  )
}

async function copy(blob: Blob): Promise<void> {
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })])
  say('The picture is in your clipboard')
}
