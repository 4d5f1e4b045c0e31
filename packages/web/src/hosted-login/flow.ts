// The login flow for the page: exchanges the code for a token once, then reads, follows and answers the flow with it.
import type { ManagedAuth, ManagedAuthEvent, SubmitRequest } from '@berth/contracts/auth-connections'
import { eventsOf } from '../shared/events.ts'

/** The fields that a connection and its events share. */
export type FlowState = Pick<
  ManagedAuth,
  | 'flow_status'
  | 'flow_step'
  | 'fields'
  | 'choices'
  | 'discovered_fields'
  | 'mfa_options'
  | 'interaction_id'
  | 'external_action_message'
  | 'website_error'
  | 'error_code'
  | 'error_message'
  | 'live_view_url'
>

/** The token is not valid, or not valid any more. */
export class NotLetIn extends Error {}

/** The server refused the input; the message is for the person. */
export class NotAccepted extends Error {}

const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 15_000

export class Flow {
  readonly #base: string
  #token = ''

  constructor(connectionId: string) {
    this.#base = `/auth/connections/${encodeURIComponent(connectionId)}`
  }

  set token(token: string) {
    this.#token = token
  }

  /** Throws NotLetIn if the code was used or is too old. */
  async exchange(code: string): Promise<string> {
    const answer = await fetch(`${this.#base}/exchange`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    if (!answer.ok) throw new NotLetIn()
    const { jwt } = (await answer.json()) as { jwt: string }
    return jwt
  }

  async read(): Promise<ManagedAuth> {
    return (await (await this.#ask('')).json()) as ManagedAuth
  }

  async submit(body: SubmitRequest): Promise<void> {
    await this.#ask('/submit', body)
  }

  /** Yields every state until the flow is over. Reconnects after interruptions. */
  async *states(): AsyncGenerator<FlowState> {
    let pauseMs = FIRST_PAUSE_MS
    for (;;) {
      try {
        const answer = await this.#ask('/events')
        for await (const event of eventsOf<ManagedAuthEvent>(answer)) {
          if (event.event !== 'managed_auth_state') continue
          pauseMs = FIRST_PAUSE_MS
          yield event
          if (event.flow_status !== 'IN_PROGRESS') return
        }
      } catch (error) {
        if (error instanceof NotLetIn) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)
    }
  }

  async #ask(path: string, body?: object): Promise<Response> {
    const answer = await fetch(this.#base + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      cache: 'no-store',
    })
    if (answer.ok) return answer
    if ([401, 404, 410].includes(answer.status)) throw new NotLetIn()
    if (body && answer.status === 400) throw new NotAccepted('Please fill in what is marked as required.')
    if (body && [409, 422].includes(answer.status))
      throw new NotAccepted('The page has moved on. Please look again.')
    throw new Error(`The server answered with ${answer.status}`)
  }
}
