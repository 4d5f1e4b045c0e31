// What the rules read of a page, short enough to compare, and as a sentence.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { caption } from '../rules/element-words.ts'
import type { ReadField, Reading } from '../rules/reading.ts'
import type { Outline } from '../run/step.ts'

const MAX_NAMED = 8
const MAX_WORDS = 120

export function outlineOf({
  form,
  choices,
  hasCaptcha,
  obstacle,
  waiting,
  confirm,
  complaints,
  signs,
}: Reading): Outline {
  return {
    ...(form && {
      form: {
        kind: form.kind,
        fields: form.fields.map(({ kind, ref }) => `${kind} ${ref}`),
        ...(form.submit && { submit: caption(form.submit) }),
      },
    }),
    ...(choices.length > 0 && {
      choices: choices.map(({ kind, provider, mfaType, label }) => `${kind} ${provider ?? mfaType ?? label}`),
    }),
    ...(hasCaptcha && { has_captcha: true }),
    ...(obstacle && { obstacle: obstacle.code }),
    ...(waiting !== undefined && { is_waiting: true }),
    ...(confirm && { confirm: caption(confirm.button) }),
    ...(complaints.length > 0 && { complaints: complaints.map(({ kind, about }) => `${kind} ${about}`) }),
    ...(signs.isSignedIn && { is_signed_in: true }),
    ...(signs.isSignedOut && { is_signed_out: true }),
  }
}

export function inWords(snapshot: PageSnapshot, reading: Reading): string {
  if (snapshot.failure !== null) return `a page that did not load: ${snapshot.failure}`
  const { form, choices, hasCaptcha, obstacle, waiting, confirm, complaints, signs } = reading
  const found = [
    obstacle && `an obstacle (${obstacle.code})`,
    form &&
      `a form of kind "${form.kind}" with ${listed(form.fields.map((field) => fieldInWords(field)))}${form.submit ? ` and the button "${cut(caption(form.submit))}"` : ' and no button'}`,
    choices.length > 0 &&
      `${choices.length === 1 ? 'a choice' : 'choices'}: ${listed(choices.map(({ label, kind }) => `"${cut(label)}" (${kind})`))}`,
    hasCaptcha && 'a captcha',
    waiting !== undefined && `a notice to act elsewhere: "${cut(waiting)}"`,
    confirm && `the button "${cut(caption(confirm.button))}", which goes on`,
    complaints.length > 0 &&
      `messages: ${listed(complaints.map(({ text, kind }) => `"${cut(text)}" (${kind})`))}`,
    snapshot.http_auth !== null && 'a request for HTTP authentication',
    signs.isSignedIn && 'signs of being signed in',
    signs.isSignedOut && !form && 'signs of being signed out',
  ].filter((each) => typeof each === 'string')
  const status = snapshot.status === null || snapshot.status < 400 ? '' : `, HTTP ${snapshot.status}`
  const title = snapshot.frames[0]?.title ?? ''
  return `${title ? `"${cut(title)}"` : 'a page without a title'}${status}: ${found.length > 0 ? found.join('; ') : 'nothing that the rules know'}`
}

function fieldInWords({ label, kind, mfaType }: ReadField): string {
  return `"${cut(label)}" (${kind}${mfaType === undefined ? '' : `, by ${mfaType}`})`
}

function listed(items: readonly string[]): string {
  const more = items.length - MAX_NAMED
  return items.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

const cut = (text: string) => (text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS)}…` : text)
