// Choices instead of, or before, the form: providers, second factors, accounts.
import type { FlowState } from './flow.ts'
import { element, make } from '../shared/elements.ts'

type Choice = NonNullable<FlowState['choices']>[number]

export class Choices {
  readonly #group = element('choices')
  readonly #or = element('or')
  readonly #onChoose: (choiceId: string) => void

  constructor(onChoose: (choiceId: string) => void) {
    this.#onChoose = onChoose
  }

  show(state: FlowState): void {
    const choices = inOrder(state)
    this.#group.hidden = choices.length === 0
    this.#or.hidden = choices.length === 0 || (state.fields ?? []).length === 0
    this.#group.replaceChildren(...choices.map((choice) => this.#button(choice)))
  }

  focus(): void {
    this.#group.querySelector('button')?.focus()
  }

  set isBusy(isBusy: boolean) {
    for (const button of this.#group.querySelectorAll('button')) button.disabled = isBusy
  }

  #button(choice: Choice): HTMLButtonElement {
    const words = make('span', { className: 'words' }, make('b', {}, choice.label))
    if (choice.description) words.append(make('small', {}, choice.description))
    const button = make('button', { type: 'button', className: 'choice' }, badge(choice), words)
    button.addEventListener('click', () => this.#onChoose(choice.id))
    return button
  }
}

/** A choice that switches to other methods comes last. */
function inOrder({ choices, mfa_options }: FlowState): Choice[] {
  const methods = (choices ?? []).filter(({ type }) => type === 'mfa_method')
  const isSwitch = (choice: Choice) => mfa_options?.[methods.indexOf(choice)]?.type === 'switch'
  const [last, first] = [(choices ?? []).filter(isSwitch), (choices ?? []).filter((each) => !isSwitch(each))]
  return [...first, ...last]
}

/** A letter instead of a logo, so that nothing is loaded from another site. */
function badge({ type, label }: Choice): HTMLElement {
  const provider = /google|microsoft|apple|github|gitlab|facebook|linkedin|okta|slack|amazon|azure|sso|saml/i
  const word = type === 'sso_provider' ? (provider.exec(label)?.[0] ?? label) : label
  const shown = make('span', { className: 'badge' }, (/[\p{L}\p{N}]/u.exec(word)?.[0] ?? '›').toUpperCase())
  shown.setAttribute('aria-hidden', 'true')
  return shown
}
