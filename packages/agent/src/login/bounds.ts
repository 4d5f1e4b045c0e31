// The bounds of the contract, as the collector wants them.
import {
  LONGEST_TEXT,
  MOST_ELEMENTS,
  MOST_HEADINGS,
  MOST_MESSAGES,
  MOST_OPTIONS,
} from '@berth/contracts/login-sight'
import type { Bounds } from './page-types.ts'

export const SHORT = 300
export const LONGEST_URL = 4_096
export const LONGEST_MESSAGE = 500

export const bounds: Bounds = {
  elements: MOST_ELEMENTS,
  groups: 100,
  messages: MOST_MESSAGES,
  headings: MOST_HEADINGS,
  options: MOST_OPTIONS,
  challenges: 20,
  text: LONGEST_TEXT,
  short: SHORT,
  url: LONGEST_URL,
  selector: 1_000,
  groupText: 2_000,
  message: LONGEST_MESSAGE,
}
