// Pages as the collector tells of them, with only what a test is about.
import type { ElementSight, FrameSight, GroupSight, PageSight } from '@berth/contracts/login-sight'

let refs = 0

export function element(given: Partial<ElementSight>): ElementSight {
  const row = ++refs
  return {
    ref: `r:${row}`,
    frame: 0,
    tag: 'input',
    type: given.tag === undefined || given.tag === 'input' ? 'text' : '',
    role: '',
    name: '',
    id: '',
    autocomplete: '',
    input_mode: '',
    pattern: '',
    max_length: null,
    placeholder: '',
    title: '',
    class_name: '',
    data: '',
    label: '',
    text: '',
    near: '',
    description: '',
    icon: '',
    href: '',
    group: 1,
    box: [100, row * 50, 240, 36],
    is_visible: true,
    is_enabled: true,
    is_read_only: false,
    is_required: false,
    is_invalid: false,
    is_checked: false,
    is_focused: false,
    has_value: false,
    is_in_dialog: false,
    region: 'main',
    options: [],
    has_choice: false,
    selector: `#e${row}`,
    xpath: `//*[@id="e${row}"]`,
    ...given,
  }
}

export const field = (given: Partial<ElementSight>) => element(given)
export const password = (given: Partial<ElementSight> = {}) =>
  element({ type: 'password', name: 'password', ...given })
export const button = (text: string, given: Partial<ElementSight> = {}) =>
  element({ tag: 'button', type: 'submit', text, ...given })
export const link = (text: string, href: string, given: Partial<ElementSight> = {}) =>
  element({ tag: 'a', text, href, ...given })

const group = (given: Partial<GroupSight>): GroupSight => ({
  is_form: true,
  action: '',
  method: 'post',
  attributes: '',
  heading: '',
  text: '',
  is_in_dialog: false,
  region: 'main',
  ...given,
})

export interface GivenPage extends Partial<Omit<PageSight, 'frames'>> {
  readonly elements?: ElementSight[]
  readonly text?: string
  readonly title?: string
  readonly headings?: string[]
  readonly messages?: FrameSight['messages']
  readonly challenges?: string[]
  /** Those after the page's own. */
  readonly groups?: Partial<GroupSight>[]
}

export function page(given: GivenPage): PageSight {
  const {
    text = '',
    title = '',
    headings = [],
    messages = [],
    challenges = [],
    groups = [{}],
    ...rest
  } = given
  const url = rest.url ?? 'https://www.example.com/login'
  return {
    document: 1,
    url,
    status: 200,
    failure: null,
    headers: {},
    elements: [],
    http_auth: null,
    dialogs: [],
    is_quiet: true,
    is_polling: false,
    is_popup: false,
    storage: { cookies: 0, local: 0, indexed: 0 },
    frames: [
      {
        url,
        origin: new URL(url).origin,
        parent: null,
        is_visible: true,
        title,
        language: '',
        headings,
        text,
        groups: [group({ is_form: false, region: '' }), ...groups.map((each) => group(each))],
        messages,
        challenges,
      },
    ],
    ...rest,
  }
}
