// The fields that a flow asks for, each with the keyboard and the suggestions that fit it.
import type { FlowState } from './flow.ts'
import { button, element, form, make } from '../shared/elements.ts'

type Field = NonNullable<FlowState['fields']>[number]
type Details = NonNullable<FlowState['discovered_fields']>[number]

interface Kind {
  readonly type: string
  readonly autocomplete: AutoFill
  readonly inputMode: string
}

export class Form {
  readonly #form = form('form')
  readonly #fields = element('fields')
  readonly #submit = button('submit')
  /** Earlier input without secrets, so that the person need not type everything again. */
  readonly #typed = new Map<string, string>()

  constructor(onSubmit: (values: Record<string, string>) => void) {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      const missing = this.#inputs().find((input) => input.required && input.value === '')
      if (missing) return this.#complain(missing)
      for (const input of this.#inputs()) {
        if (input.dataset['kind'] === 'identifier' || input.dataset['kind'] === 'text') {
          this.#typed.set(input.name, input.value)
        }
      }
      onSubmit(Object.fromEntries(this.#inputs().map((input) => [input.name, input.value])))
    })
  }

  show(state: FlowState): void {
    const fields = state.fields ?? []
    this.#form.hidden = fields.length === 0
    this.#fields.replaceChildren(
      ...fields.map((field) => {
        const details = state.discovered_fields?.find(({ name }) => name === field.id)
        return this.#field(field, details)
      }),
    )
    this.isBusy = false
  }

  /** Focuses the first empty field. */
  focus(): void {
    const inputs = this.#inputs()
    const next = inputs.find(({ value }) => value === '') ?? inputs[0]
    next?.focus()
  }

  set isBusy(isBusy: boolean) {
    this.#submit.disabled = isBusy
    for (const input of this.#inputs()) input.readOnly = isBusy
  }

  #inputs(): HTMLInputElement[] {
    return [...this.#fields.querySelectorAll('input')]
  }

  #complain(input: HTMLInputElement): void {
    input.setAttribute('aria-invalid', 'true')
    input.focus()
  }

  #field(field: Field, details: Details | undefined): HTMLElement {
    const { type, autocomplete, inputMode } = kindOf(field, details)
    const hint =
      details?.hint ?? (field.replace_existing ? 'This was not accepted. Please enter it again.' : '')
    const id = `field-${field.id}`
    const input = make('input', {
      id,
      name: field.id,
      type,
      inputMode,
      autocomplete,
      placeholder: details?.placeholder ?? '',
      required: field.required ?? true,
      autocapitalize: 'none',
      spellcheck: false,
      value: this.#typed.get(field.id) ?? '',
    })
    input.dataset['kind'] = field.type
    if (field.replace_existing) input.setAttribute('aria-invalid', 'true')
    input.addEventListener('input', () => input.removeAttribute('aria-invalid'))
    const label = make('label', { htmlFor: id }, field.label || 'Your answer')
    const box = make('div', { className: 'box' }, input)
    if (type === 'password') box.append(revealer(input))
    const shown = make('div', { className: 'field' }, label, box)
    if (hint !== '') {
      const text = make('p', { id: `${id}-hint`, className: 'hint' }, hint)
      input.setAttribute('aria-describedby', text.id)
      shown.append(text)
    }
    return shown
  }
}

function kindOf(field: Field, details: Details | undefined): Kind {
  switch (field.type) {
    case 'password':
      return { type: 'password', autocomplete: 'current-password', inputMode: 'text' }
    case 'code':
    case 'totp_code':
      // Some codes contain letters, so only the keyboard is numeric.
      return { type: 'text', autocomplete: 'one-time-code', inputMode: 'numeric' }
    case 'totp_secret':
      return { type: 'password', autocomplete: 'off', inputMode: 'text' }
    case 'identifier':
      return identifierKind(details?.type)
    case 'text':
      return plainKind(details?.type)
  }
}

function identifierKind(type: Details['type'] | undefined): Kind {
  if (type === 'email') return { type: 'email', autocomplete: 'username', inputMode: 'email' }
  if (type === 'tel') return { type: 'tel', autocomplete: 'tel', inputMode: 'tel' }
  return { type: 'text', autocomplete: 'username', inputMode: 'text' }
}

function plainKind(type: Details['type'] | undefined): Kind {
  if (type === 'number') return { type: 'text', autocomplete: 'off', inputMode: 'numeric' }
  if (type === 'tel') return { type: 'tel', autocomplete: 'tel', inputMode: 'tel' }
  if (type === 'url') return { type: 'url', autocomplete: 'off', inputMode: 'url' }
  if (type === 'email') return { type: 'email', autocomplete: 'email', inputMode: 'email' }
  return { type: 'text', autocomplete: 'off', inputMode: 'text' }
}

function revealer(input: HTMLInputElement): HTMLButtonElement {
  const toggle = make('button', { type: 'button', className: 'reveal' }, 'Show')
  toggle.setAttribute('aria-label', 'Show what is typed')
  toggle.setAttribute('aria-pressed', 'false')
  toggle.addEventListener('click', () => {
    const isShown = input.type === 'text'
    input.type = isShown ? 'password' : 'text'
    toggle.textContent = isShown ? 'Show' : 'Hide'
    toggle.setAttribute('aria-pressed', String(!isShown))
    input.focus()
  })
  return toggle
}
