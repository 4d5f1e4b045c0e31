// Reads a submission in any of the forms that clients use, and returns one form.
import type { SubmitRequest } from '@berth/contracts/auth-connections'
import type { AskedChoice, Question, Submission } from '@berth/login/run/run'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import { sortOf } from './view.ts'

/** Throws for a contradictory submission, and for one that answers another question. */
export function readSubmission(request: SubmitRequest, question: Question): Submission {
  const { interaction_id: answered } = request
  if (answered !== undefined && answered !== question.interactionId) {
    throw new AppError(
      'conflict',
      'Cannot submit this: its interaction_id is outdated; read the connection again',
    )
  }
  const legacy = legacyOf(request)
  const isCanonical = hasValues(request.field_values) || request.selected_choice_id !== undefined
  if (legacy.length > 1) {
    throw invalidInput(legacy[1]!, `cannot be given together with ${legacy[0]}`)
  }
  if (isCanonical && legacy.length > 0) {
    throw invalidInput(legacy[0]!, 'cannot be given together with field_values or selected_choice_id')
  }
  if (!isCanonical && legacy.length === 0) {
    throw invalidInput('field_values', 'must have a value, unless selected_choice_id is given')
  }
  const { interactionId } = question
  if (isCanonical) {
    const choice =
      request.selected_choice_id === undefined
        ? undefined
        : chosen(question, 'selected_choice_id', ({ id }) => id === request.selected_choice_id)
    const values = valuesOf('field_values', request.field_values ?? {}, question, { isWhole: !choice })
    return { interactionId, values, choiceId: choice?.id }
  }
  const choice = legacyChoice(request, question)
  if (choice) return { interactionId, values: {}, choiceId: choice.id }
  const values = valuesOf('fields', request.fields ?? {}, question, { isWhole: true })
  return { interactionId, values, choiceId: undefined }
}

/** An empty map counts as absent: the published page sends one with a choice. */
const hasValues = (values: Readonly<Record<string, string>> | undefined) =>
  values !== undefined && Object.keys(values).length > 0

function legacyOf(request: SubmitRequest): (keyof SubmitRequest)[] {
  const named = ['mfa_option_id', 'sign_in_option_id', 'sso_button_selector', 'sso_provider'] as const
  return [
    ...(hasValues(request.fields) ? (['fields'] as const) : []),
    ...named.filter((name) => request[name] !== undefined && request[name] !== ''),
  ]
}

function legacyChoice(request: SubmitRequest, question: Question): AskedChoice | undefined {
  const { mfa_option_id: mfa, sign_in_option_id: signIn, sso_provider: provider } = request
  const { sso_button_selector: selector } = request
  if (mfa) {
    const options = question.choices.filter((choice) => sortOf(choice) === 'mfa')
    return (
      options.find(({ mfaType, id }) => mfaType === mfa || id === mfa) ??
      chosen(question, 'mfa_option_id', (choice) => sortOf(choice) === 'mfa' && isSameText(choice.label, mfa))
    )
  }
  if (signIn) {
    return chosen(
      question,
      'sign_in_option_id',
      (choice) => sortOf(choice) === 'sign-in' && (choice.id === signIn || isSameText(choice.label, signIn)),
    )
  }
  if (selector) {
    return chosen(
      question,
      'sso_button_selector',
      (choice) => sortOf(choice) === 'sso' && (choice.xpath === selector || choice.selector === selector),
    )
  }
  if (!provider) return undefined
  return chosen(
    question,
    'sso_provider',
    (choice) => sortOf(choice) === 'sso' && isSameText(choice.provider ?? choice.label, provider),
  )
}

const isSameText = (one: string, other: string) => one.trim().toLowerCase() === other.trim().toLowerCase()

function chosen(
  { choices }: Question,
  field: keyof SubmitRequest,
  isMeant: (choice: AskedChoice) => boolean,
): AskedChoice {
  const found = choices.find(isMeant)
  if (!found) throw invalidInput(field, 'is not one of the current choices')
  return found
}

/** By a field's id or, for older clients, by the name of its stored value. */
function valuesOf(
  from: 'fields' | 'field_values',
  given: Readonly<Record<string, string>>,
  { fields }: Question,
  { isWhole }: { isWhole: boolean },
): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const field = fields.find(({ id }) => id === name) ?? fields.find(({ ref }) => ref === name)
    // The name may be anything, even a misplaced secret, so it is not repeated.
    if (!field) throw invalidInput(from, 'names a field that is not asked for now')
    values[field.id] = value
  }
  const missing = fields.find(({ id, isRequired }) => isRequired && (values[id] ?? '') === '')
  if (isWhole && missing) throw invalidInput(from, `must have a value for "${missing.id}"`)
  return values
}
