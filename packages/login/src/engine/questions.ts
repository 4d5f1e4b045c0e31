// Builds the question for the user.
import { randomUUID } from 'node:crypto'
import { mask } from '../rules/mask.ts'
import { slug } from '../rules/field-refs.ts'
import type { ReadChoice, ReadField } from '../rules/reading.ts'
import type { AskedChoice, AskedField, Question } from '../run/run.ts'

export interface Asked {
  readonly question: Question
  readonly fieldOf: ReadonlyMap<string, ReadField>
  readonly choiceOf: ReadonlyMap<string, ReadChoice>
}

export interface ToAsk {
  readonly fields: readonly ReadField[]
  /** Refs of fields whose value was rejected. */
  readonly refused: ReadonlySet<string>
  /** Refs of fields whose value may stay. */
  readonly optional: ReadonlySet<string>
  readonly choices: readonly ReadChoice[]
  readonly externalAction: string | undefined
  readonly websiteError: string | undefined
  /** Values that no text may contain. */
  readonly secrets: readonly string[]
}

export function ask(toAsk: ToAsk): Asked {
  const fieldOf = new Map(toAsk.fields.map((field) => [field.ref, field]))
  const choiceOf = new Map<string, ReadChoice>()
  for (const choice of toAsk.choices) choiceOf.set(idOf(choice, choiceOf), choice)
  const clean = (text: string | undefined) => (text === undefined ? undefined : mask(text, toAsk.secrets))
  const fields = [...fieldOf].map(([id, field]): AskedField => {
    const element = field.elements[0]!
    return {
      id,
      ref: field.ref,
      kind: field.kind,
      inputType: field.inputType,
      label: mask(field.label, toAsk.secrets),
      placeholder: clean(element.placeholder || undefined),
      hint: clean(field.hint),
      isRequired: field.isRequired && !toAsk.optional.has(field.ref),
      linkedMfaType: field.mfaType,
      replacesExisting: toAsk.refused.has(field.ref),
      selector: element.selector,
    }
  })
  const choices = [...choiceOf].map(([id, choice]): AskedChoice => ({
    id,
    kind: choice.kind,
    label: choice.label,
    description: choice.description,
    mfaType: choice.mfaType,
    target: choice.target,
    provider: choice.provider,
    selector: choice.element.selector,
    xpath: choice.element.xpath,
  }))
  const question: Question = {
    interactionId: randomUUID(),
    fields,
    choices,
    externalAction: clean(toAsk.externalAction),
    websiteError: clean(toAsk.websiteError),
  }
  return { question, fieldOf, choiceOf }
}

/** The same for the same page, so that a submission still fits after a reload. */
function idOf(choice: ReadChoice, taken: ReadonlyMap<string, unknown>): string {
  const name = choice.provider ?? (choice.mfaType === 'switch' ? 'switch' : slug(choice.label)) ?? ''
  const base = `${choice.kind}_${name || 'choice'}`.slice(0, 80)
  let id = base
  for (let number = 2; taken.has(id); number++) id = `${base}_${number}`
  return id
}
