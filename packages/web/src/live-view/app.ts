// The live view: the screen of a session, with mouse, keyboard, clipboard and files. The server decides and enforces what
// a viewer may do; the page offers only that.
import { Clipboard } from './clipboard.ts'
import { Connection } from './connection.ts'
import { element } from '../shared/elements.ts'
import { showHandover } from './handover.ts'
import { explainProblem, Notice } from './notice.ts'
import { Sound } from './sound.ts'
import { Typing } from './typing.ts'
import { Uploads } from './uploads.ts'

const isReadOnly = document.body.dataset['mode'] === 'read_only'
const problem = document.body.dataset['problem'] ?? ''

const sound = new Sound()
const notice = new Notice({ onRetry: () => connection.retry() })
const connection = new Connection({
  target: element('screen'),
  isReadOnly,
  notice,
  onOpen: (rfb) => sound.readFrom(rfb),
  onConnect: (rfb, socket) => {
    sound.use(socket)
    element('tools').hidden = false
    typing?.update()
    // Inside a frame, the embedding page decides about the focus.
    if (!isReadOnly && window === window.top && !typing?.isOpen) rfb.focus({ preventScroll: true })
  },
  onDisconnect: () => {
    sound.use(undefined)
    element('tools').hidden = true
  },
  onClipboard: (text) => clipboard?.received(text),
})

element('badge').hidden = !isReadOnly
let clipboard: Clipboard | undefined
let typing: Typing | undefined
if (isReadOnly) for (const id of ['keyboard', 'clipboard', 'upload']) element(id).remove()
else {
  const uploads = new Uploads()
  clipboard = new Clipboard({ rfb: () => connection.rfb, onFiles: (files) => uploads.add(files) })
  typing = new Typing(() => connection.rfb)
}

const fullscreen = element('fullscreen')
fullscreen.hidden = !document.fullscreenEnabled
fullscreen.addEventListener('click', () => {
  void (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen())
  connection.rfb?.focus()
})

const explanation = problem ? explainProblem(problem) : undefined
if (explanation) notice.ended(explanation)
else if (problem) connection.retry()
else connection.open()
if (!isReadOnly && !problem) void showHandover()
