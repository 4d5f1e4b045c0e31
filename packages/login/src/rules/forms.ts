// Finds the login form among all fields of a page.
import type { ElementSnapshot, GroupSnapshot } from '@berth/contracts/page-snapshot'
import { agreeWords, nextWords, signInWords, signUpWords } from '../words/actions.ts'
import * as word from '../words/fields.ts'
import { fold, tokens } from '../words/match.ts'
import { changePasswordWords, resetPageWords } from '../words/messages.ts'
import { autofillOf, caption, isClickable, seenWords } from './element-words.ts'
import { withoutDecoys } from './decoys.ts'
import { codeSource, identifierRef, isForBackupOnly, labelOf, textRef } from './field-refs.ts'
import { boxesOf, isQuestion, maybePassword, roleOf, type Role } from './fields.ts'
import type { FormKind, ReadField, ReadForm, Scene } from './reading.ts'
import { partsOf } from './parts.ts'
import { submitOf } from './submit.ts'

interface Member {
  readonly role: Role
  readonly elements: readonly ElementSnapshot[]
}

/** The fields of a form, and everything else that belongs to them. */
interface Gathered {
  readonly group: number
  readonly members: readonly Member[]
  readonly elements: readonly ElementSnapshot[]
}

export interface Candidate extends Gathered {
  readonly scene: Scene
  readonly score: number
  /** Has two password fields, or words about a new password. */
  readonly isForNewPassword: boolean
}

export function formOf(scenes: readonly Scene[]): ReadForm | undefined {
  const best = candidatesOf(scenes)
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)[0]
  return best ? formFrom(best) : undefined
}

/** The form of a page that demands a new password before the login continues. */
export function newPasswordFormOf(scenes: readonly Scene[]): ReadForm | undefined {
  const found = candidatesOf(scenes).find(({ isForNewPassword, scene, group }) => {
    const { headings, title, groups } = scene.frame
    return (
      isForNewPassword &&
      changePasswordWords.in(fold(`${headings.join(' . ')} ${title} ${groups[group]?.text ?? ''}`))
    )
  })
  return found && formFrom(found)
}

function candidatesOf(scenes: readonly Scene[]): Candidate[] {
  return scenes.flatMap((scene) => {
    const gathered = joinLoose(scene, gather(scene))
    return gathered.map((each) => judge(scene, each, gathered.length))
  })
}

function gather({ elements }: Scene): Gathered[] {
  const groups = Map.groupBy(elements, ({ group }) => group)
  return [...groups].flatMap(([group, inGroup]) =>
    partsOf(inGroup).flatMap((part): Gathered[] => {
      const members = membersOf(withoutDecoys(part.fields))
      return members.length === 0 ? [] : [{ group, members, elements: [...part.elements] }]
    }),
  )
}

function membersOf(fields: readonly ElementSnapshot[]): Member[] {
  const inRun = new Map(boxesOf(fields).flatMap((run) => run.map((element) => [element, run] as const)))
  const members = fields.flatMap((element): Member[] => {
    const run = inRun.get(element)
    if (run && run[0] !== element) return []
    return [run ? { role: 'code', elements: run } : { role: roleOf(element), elements: [element] }]
  })
  return members
}

/** Without a form element, the identifier and the password may be in different containers. */
function joinLoose({ frame }: Scene, gathered: Gathered[]): Gathered[] {
  const isLoose = ({ group }: Gathered) => frame.groups[group]?.is_form !== true
  const withPassword = gathered.find(
    (each) => isLoose(each) && each.members.some(({ role }) => role === 'password'),
  )
  if (!withPassword || withPassword.members.some(({ role }) => role === 'identifier' || role === 'unclear'))
    return gathered
  const top = withPassword.members[0]!.elements[0]!.box[1] ?? 0
  const above = gathered.find(
    (other) =>
      other !== withPassword &&
      isLoose(other) &&
      other.members.some(
        ({ role, elements }) =>
          (role === 'identifier' || role === 'unclear') &&
          top - (elements[0]!.box[1] ?? 0) > 0 &&
          top - (elements[0]!.box[1] ?? 0) < 300,
      ),
  )
  if (!above) return gathered
  const joined = { ...withPassword, members: [...above.members, ...withPassword.members] }
  return [...gathered.filter((each) => each !== above && each !== withPassword), joined]
}

function judge(scene: Scene, gathered: Gathered, count: number): Candidate {
  const { group, elements } = gathered
  const members = withName(asLogin(gathered))
  const has = (...roles: readonly Role[]) => members.filter(({ role }) => roles.includes(role)).length
  const passwords = has('password')
  const isForNewPassword = has('new password') > 0 || passwords > 1
  const groupSnapshot = scene.frame.groups[group]
  const about = aboutOf(scene, groupSnapshot, group)
  const submit = submitOf(
    { elements },
    group,
    members.flatMap((member) => member.elements),
  )
  const says = fold(submit ? caption(submit) : '')
  const asks = has('identifier', 'unclear')

  let score = 0
  if (passwords === 1) score += 60
  if (has('identifier') > 0) score += passwords === 1 ? 24 : 12
  if (has('code') > 0) score += passwords === 1 ? 5 : 45
  if (passwords === 0 && has('code') === 0)
    score += identifierOnly(scene, { members, asks, says, about, group })
  if (signInWords.in(says)) score += 20
  else if (nextWords.in(says)) score += 5
  if (signInWords.in(about)) score += 8
  score -= signUpPenalty(scene, { group, members, elements })
  if (isForNewPassword) score -= 200
  if (
    passwords === 0 &&
    resetPageWords.in(fold(`${groupSnapshot?.heading ?? ''} ${says}`)) &&
    !signInWords.in(says)
  )
    score -= 80
  if (groupSnapshot?.is_in_dialog === true) score += 15
  if (groupSnapshot?.region === 'main' || count === 1) score += 3
  if (groupSnapshot?.region === 'footer') score -= 60
  // The same login often stands in the header as well.
  if (groupSnapshot?.region === 'header' || groupSnapshot?.region === 'nav') score -= 8
  if (groupSnapshot?.region === 'search' || (has('search') > 0 && asks + passwords === 0)) score -= 200
  if (has('ignored') > 0 && passwords === 0 && has('code') === 0) score -= 60
  if (members.every((member) => member.elements.every((element) => element.is_read_only))) score -= 200
  score += declaredScore(members) - 3 * Math.max(0, members.length - 3)
  return { scene, group, members, elements, score, isForNewPassword }
}

/** A form with one field may be the first step of a login, or a newsletter. */
function identifierOnly(
  scene: Scene,
  {
    members,
    asks,
    says,
    about,
    group,
  }: { members: readonly Member[]; asks: number; says: string; about: string; group: number },
): number {
  if (asks === 0)
    return members.some(({ role }) => role === 'text') && asksQuestion(scene, members, group) ? 30 : -100
  if (asks > 2) return -100
  const identifier = members.find(({ role }) => role === 'identifier')?.elements[0]
  const isDeclared = identifier !== undefined && /username|webauthn/.test(identifier.autocomplete)
  const isHiddenBeside = scene.elements.some((element) => element.type === 'password' && !element.is_visible)
  const address = fold(scene.frame.url.replace(/[?#].*$/, ''))
  let score = 0
  if (isDeclared) score += 25
  if (isHiddenBeside && identifier) score += 15
  if (signInWords.in(about) || signInWords.in(says)) score += 15
  if (/log-?in|sign-?in|logon|\bauth|\bsso|session|account/.test(address)) score += 10
  if (nextWords.in(says)) score += 5
  if (identifier && isUnderLogin(scene)) score += 15
  // Nothing says that the field is for a login.
  return score === 0 ? -50 : score - (identifier ? 5 : 15)
}

function isUnderLogin({ frame }: Scene): boolean {
  return signInWords.in(fold(`${frame.title} . ${frame.headings.slice(0, 3).join(' . ')}`))
}

function asksQuestion({ frame }: Scene, members: readonly Member[], group: number): boolean {
  if (members.some(({ elements }) => isQuestion(elements[0]!))) return true
  const text = fold(`${frame.headings.join(' . ')} . ${frame.groups[group]?.text ?? ''}`)
  return (
    word.answerWords.in(text) ||
    (word.organisationWords.in(text) && (signInWords.in(text) || agreeWords.in(text)))
  )
}

function aboutOf({ frame }: Scene, group: GroupSnapshot | undefined, index: number): string {
  const names = group
    ? `${tokens(group.attributes)} . ${fold(group.heading)} . ${tokens(pathOf(group.action))}`
    : ''
  return index === 0 ? fold(`${frame.headings[0] ?? ''} . ${frame.title}`) : names
}

function pathOf(address: string): string {
  return URL.parse(address)?.pathname ?? ''
}

/** What the page declares about its password, for two forms that look alike. */
function declaredScore(members: readonly Member[]): number {
  const declared = members.flatMap(({ elements: [first] }) => (first ? autofillOf(first) : []))
  return (declared.includes('current-password') ? 15 : 0) - (declared.includes('new-password') ? 15 : 0)
}

/**
 * Several passwords in a form that signs in: the second one is another secret if it has another name, and otherwise a twin.
 * In any other form they are a new password and its repetition.
 */
function asLogin({ members, elements }: Gathered): readonly Member[] {
  const passwords = members.filter(({ role }) => role === 'password')
  const [first, ...others] = passwords
  if (!first || others.length === 0 || members.some(({ role }) => role === 'new password')) return members
  const says = captionsOf(elements)
  const isLogin =
    says.some((text) => signInWords.in(text) && !signUpWords.in(text)) &&
    !says.some((text) => signUpWords.in(text)) &&
    !members.some(isOfIdentity)
  if (!isLogin) return members
  const nameOf = ({ elements: [element] }: Member) => fold(element ? labelOf(element) : '')
  return members.flatMap((member): Member[] => {
    if (!others.includes(member)) return [member]
    return nameOf(member) === nameOf(first) ? [] : [{ ...member, role: 'text' }]
  })
}

/** Every login has a name. Without a better field, it is the one before the password: `Domain`, `Card number`. */
function withName(members: readonly Member[]): readonly Member[] {
  const asked = withPin(members)
  const at = asked.findIndex(({ role }) => role === 'password')
  if (at < 0 || asked.some(({ role }) => role === 'identifier' || role === 'unclear')) return asked
  const before = asked
    .slice(0, at)
    .findLast(
      ({ role, elements: [first] }) =>
        (role === 'text' || role === 'code') &&
        first !== undefined &&
        first.type !== 'password' &&
        first.tag === 'input' &&
        !isQuestion(first),
    )
  return asked.map((member) => (member === before ? { ...member, role: 'identifier' } : member))
}

function withPin(members: readonly Member[]): readonly Member[] {
  const named = members.findIndex(({ role }) => role === 'identifier' || role === 'unclear')
  const secrets = members.filter(
    ({ role }) => role === 'password' || role === 'code' || role === 'new password',
  )
  const [only] = secrets
  if (named < 0 || secrets.length !== 1 || only?.role !== 'code' || only.elements.length !== 1) return members
  if (!maybePassword(only.elements[0]!) || members.indexOf(only) < named) return members
  return members.map((member) => (member === only ? { ...member, role: 'password' } : member))
}

function captionsOf(elements: readonly ElementSnapshot[]): string[] {
  return elements
    .filter((element) => element.is_visible && isClickable(element) && element.tag !== 'a')
    .map((element) => fold(caption(element)))
}

function isOfIdentity({ role, elements: [first] }: Member): boolean {
  return role === 'text' && first !== undefined && word.identityWords.in(seenWords(first))
}

/** What a form asks for is surer than its buttons, and they are surer than its names and headings. */
function signUpPenalty({ frame }: Scene, { group, members, elements }: Gathered): number {
  const groupSnapshot = frame.groups[group]
  const says = captionsOf(elements)
  const about = groupSnapshot
    ? `${tokens(groupSnapshot.attributes)} . ${fold(groupSnapshot.heading)} . ${tokens(pathOf(groupSnapshot.action))}`
    : ''
  const isAbout = signUpWords.in(about) && !signInWords.in(about)
  const isIdentity = members.some(isOfIdentity)
  const asksMore =
    isIdentity || members.filter(({ role }) => role === 'password' || role === 'new password').length > 1
  const signsIn = says.some((text) => signInWords.in(text) && !signUpWords.in(text))
  const signsUp = says.some((text) => signUpWords.in(text))
  // A button to the other form stands beside the button that submits.
  if (signsIn && signsUp) return asksMore ? 140 : isAbout ? 90 : 0
  if (signsIn) return 0
  // `Next` under `Sign in`, beside a button for those who have no account.
  const isNext = says.some((text) => nextWords.in(text) && !signUpWords.in(text))
  const heading = fold(groupSnapshot?.heading || frame.headings[0] || '')
  if (signsUp && isNext && !asksMore && signInWords.in(heading)) return 0
  if (isIdentity) return 140
  return signsUp || isAbout ? 110 : 0
}

function formFrom({ scene, group, members, elements }: Candidate): ReadForm {
  const usable = members.filter(
    (member) =>
      !/^(search|ignored|captcha)$/.test(member.role) &&
      !member.elements.every(({ is_read_only }) => is_read_only),
  )
  const page = `${scene.frame.groups[group]?.text ?? ''} . ${scene.frame.text.slice(0, 3_000)}`
  const kind = kindOf(usable)
  const taken = new Set<string>()
  const fields: ReadField[] = []
  let hasIdentifier = false
  const password = usable.findIndex(({ role }) => role === 'password')
  for (const [index, { role, elements: boxes }] of usable.entries()) {
    const [element] = boxes
    if (!element) continue
    // Of several fields, the identifier is the one directly before the password. Without words, only the position counts.
    const isIdentifier: boolean =
      !hasIdentifier &&
      (role === 'identifier' ||
        (role === 'unclear' &&
          !usable.some((other) => other.role === 'identifier') &&
          (password < 0 || index === password - 1 || usable.length <= 2)))
    const field = fieldOf(isIdentifier ? 'identifier' : role, boxes, page)
    hasIdentifier ||= isIdentifier
    fields.push({ ...field, ref: unique(field.ref, taken) })
  }
  return {
    kind,
    frame: scene.index,
    group,
    fields,
    submit: submitOf(
      { elements },
      group,
      usable.flatMap((member) => member.elements),
    ),
    ticks: elements.filter(isToBeTicked),
    signature: `${kind}:${fields.map(({ kind: each, ref, mfaType }) => `${each}/${ref}/${mfaType ?? ''}`).join(',')}`,
  }
}

function kindOf(members: readonly Member[]): FormKind {
  const has = (role: Role) => members.some((member) => member.role === role)
  if (has('new password')) return 'new password'
  if (has('password')) return has('identifier') || has('unclear') ? 'login' : 'password'
  if (has('code')) return 'code'
  return has('identifier') || has('unclear') ? 'identifier' : 'question'
}

function fieldOf(role: Role, elements: readonly ElementSnapshot[], page: string): ReadField {
  const element = elements[0]!
  const label = elements.length > 1 ? labelOfBoxes(element) : labelOf(element)
  const isOptional = /optional|facultati|opcional|opzionale|freiwillig|valfri|valgfri|任意|可选|선택/.test(
    fold(`${label} ${element.placeholder} ${element.near}`),
  )
  const common = {
    label,
    hint: hintOf(element),
    isRequired: element.is_required || !isOptional,
    mfaType: undefined,
    elements,
  }
  if (role === 'new password')
    return {
      ...common,
      kind: 'password',
      ref: 'new_password',
      inputType: 'password',
      label: label || 'New password',
    }
  if (role === 'password')
    return { ...common, kind: 'password', ref: 'password', inputType: 'password', label: label || 'Password' }
  if (role === 'code') {
    const isBackup = isForBackupOnly(element, label)
    const words = `${label} . ${element.placeholder} . ${element.near} . ${element.description} . ${element.name} ${element.id}`
    const source = isBackup ? undefined : codeSource(words, page)
    return {
      ...common,
      kind: source === 'totp' ? 'totp_code' : 'code',
      ref: isBackup ? 'backup_code' : 'code',
      inputType: source === 'totp' ? 'totp' : 'code',
      mfaType: source,
      label: label || 'Code',
    }
  }
  if (role === 'identifier') {
    const ref = identifierRef(element)
    return {
      ...common,
      kind: 'identifier',
      ref,
      inputType: ref === 'email' ? 'email' : ref === 'phone' ? 'tel' : 'text',
      label: label || 'Username',
    }
  }
  const type = element.type
  return {
    ...common,
    kind: 'text',
    ref: textRef(element),
    inputType:
      type === 'number' || type === 'url' || type === 'tel' || type === 'email' || type === 'password'
        ? type
        : 'text',
  }
}

function labelOfBoxes(first: ElementSnapshot): string {
  const near = first.near.length <= 80 ? first.near : ''
  return near || (first.label.length > 3 && !/\d/.test(first.label) ? first.label : 'Code')
}

function hintOf(element: ElementSnapshot): string | undefined {
  const text = element.description || (element.near.length > 60 ? element.near : '')
  return text === '' || text === element.label ? undefined : text.slice(0, 200)
}

/** `Remember me` boxes, for a longer session, and required boxes. */
function isToBeTicked(element: ElementSnapshot): boolean {
  if (element.type !== 'checkbox' || !element.is_visible || !element.is_enabled || element.is_checked)
    return false
  return (
    element.is_required ||
    word.rememberWords.in(`${seenWords(element)} ${tokens(`${element.name} ${element.id}`)}`)
  )
}

function unique(ref: string, taken: Set<string>): string {
  let found = ref
  for (let number = 2; taken.has(found); number++) found = `${ref}_${number}`
  taken.add(found)
  return found
}
