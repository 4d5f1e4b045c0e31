// The texts for a flow that waits, and for one that is over.
import type { FlowState } from './flow.ts'

export interface Notice {
  /** The icon before the text. */
  readonly mark: 'busy' | 'phone' | 'done' | 'stopped'
  readonly title: string
  readonly text: string
}

export const linkIsOver: Notice = {
  mark: 'stopped',
  title: 'This link has been used or has expired',
  text: 'Each link opens once. Ask whoever sent it to you for a new one.',
}

const failures: Readonly<Record<string, string>> = {
  credentials_invalid: 'The website did not accept the sign-in details.',
  totp_code_rejected: 'The website did not accept the code.',
  account_locked: 'The website has locked this account. It can usually be unlocked on the website itself.',
  unsupported_auth_method:
    'The website asks for a passkey or a security key. One of your own device cannot be used here.',
  rate_limited: 'The website has had too many attempts. Wait a while before the next one.',
  website_error: 'The website has a problem of its own just now.',
  network_error: 'The website could not be reached.',
  bot_detected: 'The website refused the browser that signs you in.',
  captcha_blocked: 'The website asks for a puzzle that could not be solved.',
  login_form_not_found: 'No sign-in form was found on the website.',
  domain_not_allowed: 'The website led to another site that this sign-in may not use.',
}

/** Undefined if the page shows a form, which needs no text. */
export function noticeOf(state: FlowState, domain: string): Notice | undefined {
  switch (state.flow_status) {
    case 'SUCCESS':
      return { mark: 'done', title: 'You are signed in', text: 'You can close this window.' }
    case 'FAILED':
      return {
        mark: 'stopped',
        title: 'Signing in did not work',
        text: failures[state.error_code ?? ''] ?? state.error_message ?? 'Something went wrong.',
      }
    case 'EXPIRED':
      return {
        mark: 'stopped',
        title: 'This took too long',
        text: 'The sign-in has expired. Ask for a new link to try again.',
      }
    case 'CANCELED':
      return { mark: 'stopped', title: 'The sign-in was canceled', text: 'Ask for a new link to try again.' }
    default:
      return whileItGoesOn(state, domain)
  }
}

function whileItGoesOn(state: FlowState, domain: string): Notice | undefined {
  switch (state.flow_step) {
    case 'AWAITING_INPUT':
      return undefined
    case 'AWAITING_EXTERNAL_ACTION':
      return {
        mark: 'phone',
        title: 'Your turn',
        text: state.external_action_message ?? 'This page goes on by itself when you have.',
      }
    case 'SUBMITTING':
      return { mark: 'busy', title: 'Signing in', text: 'This takes a few seconds.' }
    default:
      return { mark: 'busy', title: 'Opening the sign-in page', text: `Looking for it at ${domain}.` }
  }
}
