// Records the steps of a successful login, and finds them again on a page.
import type { ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import { holdsAny } from '../rules/mask.ts'
import type { Fingerprint, Plan, PlanStep } from '../run/memory.ts'
import type { ReadChoice, ReadField, ReadForm, Reading } from '../rules/reading.ts'

export function fingerprintOf(element: ElementSnapshot, secrets: readonly string[]): Fingerprint {
  const label = element.label || element.text
  return {
    tag: element.tag,
    type: element.type,
    name: element.name,
    id: element.id,
    autocomplete: element.autocomplete,
    // The label of an account in a list is often its email address.
    label: holdsAny(label, secrets) ? '' : label.slice(0, 100),
  }
}

export function placeOf(snapshot: PageSnapshot): string {
  const { origin = '', pathname = '' } = URL.parse(snapshot.url) ?? {}
  return `${origin}${pathname}`
}

export function stepOf(snapshot: PageSnapshot, form: ReadForm, secrets: readonly string[]): PlanStep {
  return {
    at: placeOf(snapshot),
    frameOrigin: snapshot.frames[form.frame]?.origin ?? '',
    fields: form.fields.map((field) => ({
      fingerprint: fingerprintOf(field.elements[0]!, secrets),
      ref: field.ref,
      kind: field.kind,
    })),
    choice: undefined,
    submit: form.submit ? fingerprintOf(form.submit, secrets) : undefined,
  }
}

export function stepOfChoice(
  snapshot: PageSnapshot,
  choice: ReadChoice,
  secrets: readonly string[],
): PlanStep {
  return {
    at: placeOf(snapshot),
    frameOrigin: snapshot.frames[choice.element.frame]?.origin ?? '',
    fields: [],
    choice: fingerprintOf(choice.element, secrets),
    submit: undefined,
  }
}

/** The step of the plan for this page, if all of its fields are unchanged. */
export function fittingStep(
  snapshot: PageSnapshot,
  { form }: Reading,
  plan: Plan | undefined,
): PlanStep | undefined {
  if (!form) return undefined
  const origin = snapshot.frames[form.frame]?.origin ?? ''
  return plan?.steps.find(
    (step) =>
      step.at === placeOf(snapshot) &&
      step.frameOrigin === origin &&
      step.fields.length === form.fields.length &&
      step.fields.length > 0 &&
      step.fields.every(({ fingerprint, ref, kind }, index) => {
        const field: ReadField = form.fields[index]!
        return field.ref === ref && field.kind === kind && isAlike(field.elements[0]!, fingerprint)
      }),
  )
}

/** The choice that the last login made on this page. */
export function fittingChoice(
  snapshot: PageSnapshot,
  { choices }: Reading,
  plan: Plan | undefined,
): ReadChoice | undefined {
  const steps = plan?.steps.filter(({ at, choice }) => choice !== undefined && at === placeOf(snapshot)) ?? []
  for (const { choice } of steps) {
    const found = choices.filter(({ element }) => isAlike(element, choice!))
    if (found.length === 1 && choice!.label !== '') return found[0]
  }
  return undefined
}

function isAlike(element: ElementSnapshot, fingerprint: Fingerprint): boolean {
  const label = (element.label || element.text).slice(0, 100)
  return (
    element.tag === fingerprint.tag &&
    element.type === fingerprint.type &&
    element.name === fingerprint.name &&
    element.id === fingerprint.id &&
    element.autocomplete === fingerprint.autocomplete &&
    label === fingerprint.label
  )
}
