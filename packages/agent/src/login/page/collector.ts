// What is seen of one document.
import type { ElementSight } from '@berth/contracts/login-sight'
import type { Collected } from '../page-types.ts'
import type { Tools } from './tools.ts'
import { isShown } from './use.ts'

type Seen = Omit<ElementSight, 'frame'>

export function collect(tools: Tools): Collected {
  const { bounds } = tools
  const elements: Seen[] = []
  const visit = (root: Document | ShadowRoot) => {
    for (const element of root.querySelectorAll('*')) {
      if (elements.length >= bounds.elements) return
      const inner = tools.shadowRootOf(element)
      if (inner) visit(inner)
      if (element.matches('input:not([type=hidden]), select, textarea, button, a[href], [role=button]'))
        elements.push(see(element, tools))
    }
  }
  visit(document)
  const headings = [...document.querySelectorAll('h1, h2, h3')].slice(0, bounds.headings)
  return {
    frame: {
      title: document.title.slice(0, bounds.short),
      language: document.documentElement.lang.slice(0, bounds.short),
      headings: headings.map((heading) => (heading.textContent ?? '').slice(0, bounds.short)),
      text: (document.body?.innerText ?? '').slice(0, bounds.text),
      groups: [
        {
          is_form: false,
          action: '',
          method: '',
          attributes: '',
          heading: '',
          text: '',
          is_in_dialog: false,
          region: '',
        },
      ],
      messages: [],
      challenges: [],
    },
    elements,
  }
}

function see(element: Element, { bounds, refOf }: Tools): Seen {
  const attribute = (name: string) => (element.getAttribute(name) ?? '').slice(0, bounds.short)
  const input = element instanceof HTMLInputElement ? element : undefined
  const { x, y, width, height } = element.getBoundingClientRect()
  const tag = element.localName
  const label = input?.labels?.[0]?.textContent ?? ''
  return {
    ref: refOf(element),
    tag:
      tag === 'input' || tag === 'select' || tag === 'textarea' || tag === 'button' || tag === 'a'
        ? tag
        : 'other',
    type: input?.type ?? '',
    role: attribute('role'),
    name: attribute('name'),
    id: attribute('id'),
    autocomplete: attribute('autocomplete').toLowerCase(),
    input_mode: attribute('inputmode'),
    pattern: attribute('pattern'),
    max_length: input && input.maxLength >= 0 ? input.maxLength : null,
    placeholder: attribute('placeholder'),
    title: attribute('title'),
    class_name: attribute('class'),
    data: '',
    label: (attribute('aria-label') || label.trim()).slice(0, bounds.short),
    text: (input
      ? /submit|button/.test(input.type)
        ? input.value
        : ''
      : (element.textContent ?? '').trim()
    ).slice(0, bounds.short),
    near: '',
    description: '',
    icon: '',
    href: element instanceof HTMLAnchorElement ? element.href.slice(0, bounds.url) : '',
    group: 0,
    box: [x, y, width, height].map(Math.round),
    is_visible: isShown(element),
    is_enabled: !element.matches(':disabled'),
    is_read_only: input?.readOnly ?? false,
    is_required: input?.required ?? false,
    is_invalid: false,
    is_checked: input?.checked ?? false,
    is_focused: false,
    has_value: (input?.value ?? '') !== '',
    is_in_dialog: false,
    region: '',
    options:
      element instanceof HTMLSelectElement
        ? [...element.options].slice(0, bounds.options).map(({ value, label: shown }) => ({
            value: value.slice(0, bounds.short),
            label: shown.slice(0, bounds.short),
          }))
        : [],
    has_choice: false,
    selector: '',
    xpath: '',
  }
}
