// The limits of the contract, for the collector.
import {
  MAX_TEXT_LENGTH,
  MAX_ELEMENTS,
  MAX_HEADINGS,
  MAX_MESSAGES,
  MAX_OPTIONS,
} from '@berth/contracts/page-snapshot'
import type { Bounds } from './page-types.ts'

export const SHORT = 300
export const MAX_URL_LENGTH = 4_096
export const MAX_MESSAGE_LENGTH = 500

export const bounds: Bounds = {
  elements: MAX_ELEMENTS,
  groups: 100,
  messages: MAX_MESSAGES,
  headings: MAX_HEADINGS,
  options: MAX_OPTIONS,
  challenges: 20,
  text: MAX_TEXT_LENGTH,
  short: SHORT,
  url: MAX_URL_LENGTH,
  selector: 1_000,
  groupText: 2_000,
  message: MAX_MESSAGE_LENGTH,
}
