// What an agent asks of the person who opened this page, and the person's answer. The session's own pages cannot reach
// this bar: they are only a picture here.
import { button, element, setText } from '../shared/elements.ts'
import { toast } from '../shared/toasts.ts'

const PARAMETER = 'handover'
const GAP_PX = 10
const ENDPOINT = '/browser/live/handover'

type Outcome = 'done' | 'declined'

interface Handover {
  readonly message: string
  readonly state: string
}

const thanks: Readonly<Record<string, string>> = {
  done: 'Thank you. The agent goes on; you can close this page.',
  declined: 'The agent was told that you cannot do this; you can close this page.',
  cancelled: 'The agent no longer waits for this; you can close this page.',
  expired: 'The time for this is over; you can close this page.',
  session_ended: 'The session has ended; you can close this page.',
}

/** Shows the request, if the link belongs to one. */
export async function showHandover(): Promise<void> {
  if (!new URLSearchParams(location.search).has(PARAMETER)) return
  const buttons: readonly (readonly [string, Outcome])[] = [
    ['handover-done', 'done'],
    ['handover-declined', 'declined'],
  ]
  for (const [id, outcome] of buttons) element(id).addEventListener('click', () => void answer(outcome))
  // Keys typed here are not for the session.
  element('handover').addEventListener('keydown', (event) => event.stopPropagation())
  element('handover').addEventListener('keyup', (event) => event.stopPropagation())
  try {
    show(await ask())
  } catch (error) {
    toast(`Cannot read what you are asked to do: ${(error as Error).message}`)
  }
}

function show({ message, state }: Handover): void {
  const bar = element('handover')
  const isWaiting = state === 'waiting'
  bar.hidden = false
  bar.dataset['state'] = state
  setText('handover-message', isWaiting ? message : (thanks[state] ?? ''))
  element('handover-answer').hidden = !isWaiting
  // The picture makes room while the person needs both.
  element('screen').style.top = isWaiting ? `${bar.offsetTop + bar.offsetHeight + GAP_PX}px` : ''
}

async function answer(outcome: Outcome): Promise<void> {
  const all = ['handover-done', 'handover-declined'].map(button)
  for (const each of all) each.disabled = true
  try {
    show(await ask({ outcome, note: (element('handover-note') as HTMLInputElement).value }))
  } catch (error) {
    toast(`Cannot tell the agent: ${(error as Error).message}. Try again`)
  } finally {
    for (const each of all) each.disabled = false
  }
}

async function ask(body?: { outcome: Outcome; note: string }): Promise<Handover> {
  const response = await fetch(`${ENDPOINT}${location.search}`, {
    cache: 'no-store',
    ...(body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  // An error has a message, too.
  const result = (await response.json()) as Handover
  if (!response.ok) throw new Error(result.message)
  return result
}
