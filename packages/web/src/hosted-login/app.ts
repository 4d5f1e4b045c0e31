// Shows the states of the login flow to the person, and sends what the person enters.
import { Choices } from './choices.ts'
import { element, link, setText } from '../shared/elements.ts'
import { Flow, NotAccepted, NotLetIn, type FlowState } from './flow.ts'
import { Form } from './form.ts'
import { recall, remember } from './memory.ts'
import { destination, readPlace } from './place.ts'
import { Screen } from './screen.ts'
import { linkIsOver, noticeOf, type Notice } from './words.ts'

/** Long enough to read the message. */
const REDIRECT_MS = 1_500

const place = readPlace(window.location)
const known = recall(place.connectionId)
const successUrl = place.successUrl ?? known?.successUrl
const errorUrl = place.errorUrl ?? known?.errorUrl
const flow = new Flow(place.connectionId)
const error = element('error')
const screen = new Screen()
const form = new Form((values) => void send({ field_values: values }))
const choices = new Choices((id) => void send({ selected_choice_id: id }))
let interactionId: string | undefined
let shown = ''
let domain = ''
let profileName = ''
let registered: readonly string[] = []

/** Identifies a state. A connection has more fields than its events, but the same state. */
const told = [
  'flow_status',
  'flow_step',
  'interaction_id',
  'fields',
  'choices',
  'external_action_message',
  'website_error',
  'error_code',
] as const satisfies (keyof FlowState)[]

/** Removes the code from the address before anything else, because it works only once and is secret. */
function hideCode(): void {
  window.history.replaceState(null, '', window.location.pathname + window.location.search)
}

async function letIn(): Promise<void> {
  hideCode()
  const token = await tokenOf()
  remember(place.connectionId, { token, successUrl, errorUrl })
  flow.token = token
}

/** A reloaded page has a used code, but it has kept the token that it got for the code. */
async function tokenOf(): Promise<string> {
  if (place.code === undefined) {
    if (known) return known.token
    throw new NotLetIn()
  }
  try {
    return await flow.exchange(place.code)
  } catch (failure) {
    if (known && failure instanceof NotLetIn) return known.token
    throw failure
  }
}

async function send(body: Parameters<Flow['submit']>[0]): Promise<void> {
  setBusy(true)
  say('')
  try {
    await flow.submit({ ...body, ...(interactionId !== undefined && { interaction_id: interactionId }) })
  } catch (failure) {
    setBusy(false)
    if (failure instanceof NotLetIn) return tell(linkIsOver)
    say(failure instanceof NotAccepted ? failure.message : 'This could not be sent. Please try again.')
  }
}

function setBusy(isBusy: boolean): void {
  form.isBusy = isBusy
  choices.isBusy = isBusy
}

function say(text: string): void {
  error.textContent = text
  error.hidden = text === ''
}

function show(state: FlowState): void {
  const isOver = state.flow_status !== 'IN_PROGRESS'
  screen.show(isOver ? null : state.live_view_url)
  const now = JSON.stringify(
    told.map((name) => state[name] ?? null),
    sorted,
  )
  // An unchanged state is not drawn again, because somebody may be typing.
  if (now === shown) return
  shown = now
  interactionId = state.interaction_id ?? undefined
  form.show(state)
  choices.show(state)
  say(isOver ? '' : (state.website_error ?? ''))
  tell(noticeOf(state, domain))
  if (state.fields?.length) form.focus()
  else if (state.choices?.length) choices.focus()
  if (isOver) leave(state)
}

/** For JSON: an event has the same properties as the connection, in another order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function tell(notice: Notice | undefined): void {
  const section = element('notice')
  const isNews = section.hidden || element('notice-title').textContent !== notice?.title
  section.hidden = notice === undefined
  document.body.dataset['state'] = notice?.mark ?? 'asking'
  setText('notice-title', notice?.title ?? '')
  setText('notice-text', notice?.text ?? '')
  setText('live', notice ? `${notice.title}. ${notice.text}` : 'Please fill in what is asked for.')
  const isEnd = notice?.mark === 'done' || notice?.mark === 'stopped'
  if (isEnd) {
    element('form').hidden = true
    element('choices').hidden = true
    element('or').hidden = true
    if (isNews) element('notice-title').focus()
  }
}

function leave(state: FlowState): void {
  const target =
    state.flow_status === 'SUCCESS'
      ? destination(successUrl, registered, { profile_name: profileName, domain })
      : destination(errorUrl, registered, {
          code: state.error_code ?? undefined,
          message: state.error_message ?? noticeOf(state, domain)!.text,
        })
  goTo(target)
}

function goTo(target: string | undefined): void {
  if (target === undefined) return
  const onward = link('notice-link')
  onward.href = target
  onward.hidden = false
  setTimeout(() => window.location.replace(target), REDIRECT_MS)
}

async function run(): Promise<void> {
  await letIn()
  const connection = await flow.read()
  ;({ domain, profile_name: profileName, redirect_urls: registered = [] } = connection)
  setText('domain', domain)
  document.title = `Sign in to ${domain}`
  show(connection)
  for await (const state of flow.states()) show(state)
}

try {
  await run()
} catch (failure) {
  if (failure instanceof NotLetIn) {
    screen.show(null)
    tell(linkIsOver)
    goTo(destination(errorUrl, registered, { code: 'session_expired', message: linkIsOver.title }))
  } else {
    tell({ mark: 'stopped', title: 'This page cannot reach its server', text: 'Please load it again.' })
  }
}
