// The words of an element: what users read, and separately the names that developers gave it.
import type { ElementSnapshot } from '@berth/contracts/page-snapshot'
import { fold, tokens } from '../words/match.ts'

/** Most reliable first. */
export function seenWords(element: ElementSnapshot): string {
  // An example address in a placeholder means that the field wants an email address.
  const words = [element.label, element.placeholder, element.title, element.text].join(' . ')
  return fold(words.replaceAll(/[^\s@]+@[^\s@]+\.[a-z]{2,}/gi, 'email'))
}

export function caption(element: ElementSnapshot): string {
  return (element.text || element.label || element.title || element.icon).trim()
}

export function givenNames(element: ElementSnapshot): string {
  return tokens(`${element.name} ${element.id}`)
}

export function allNames(element: ElementSnapshot): string {
  return tokens(`${element.name} ${element.id} ${element.class_name} ${element.data}`)
}

/** The last token except `webauthn` names the purpose. */
export function autofillOf({ autocomplete }: ElementSnapshot): string {
  const all = autocomplete.split(' ').filter((token) => token !== 'webauthn')
  return all.at(-1) ?? ''
}

const FILLED = /^(text|email|tel|password|number|url|search|)$/

export function isTextField(element: ElementSnapshot): boolean {
  if (element.tag === 'textarea') return true
  if (element.tag === 'input') return FILLED.test(element.type)
  return element.tag === 'other' && element.role === 'textbox'
}

export function isClickable(element: ElementSnapshot): boolean {
  if (element.tag === 'button' || element.tag === 'a') return true
  if (element.tag === 'input') return /^(submit|button|image)$/.test(element.type)
  return element.tag === 'other' && element.role !== 'textbox'
}

export function area({ box }: ElementSnapshot): number {
  return Math.max(0, box[2] ?? 0) * Math.max(0, box[3] ?? 0)
}
