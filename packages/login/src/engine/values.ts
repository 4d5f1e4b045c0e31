// The values to fill in, from a credential or from the user.
import type { ReadField } from '../rules/reading.ts'
import { isSameRef, slug } from '../rules/field-refs.ts'
import type { KnownValues } from '../run/run.ts'
import { isOf } from '../hosts/hosts.ts'
import { answerWords, organisationWords } from '../words/fields.ts'
import { fold, tokens } from '../words/match.ts'

const identifierRefs = [
  'email',
  'username',
  'login',
  'identifier',
  'user',
  'user_name',
  'user_id',
  'userid',
  'account',
  'mail',
  'e_mail',
  'phone',
  'mobile',
  'member_id',
  'customer_id',
]
const passwordRefs = ['password', 'passwd', 'pass', 'pwd', 'passphrase', 'passcode', 'pin']
const phoneRefs = [
  'phone',
  'phone_number',
  'tel',
  'mobile',
  'mobile_number',
  'username',
  'login',
  'identifier',
]

export class Values {
  readonly #known: Map<string, string>
  readonly #knownHosts: readonly string[]
  readonly #hosts: readonly string[]
  #origin = ''
  readonly #typedAt = new Set<string>()
  readonly #given = new Map<string, string>()
  readonly #typed = new Map<string, string>()
  /** Everything that was typed, including one-time codes, for masking. */
  readonly #seen = new Set<string>()

  /** `hosts`: where the user's own values may be typed. */
  constructor(known: KnownValues | undefined, hosts: readonly string[]) {
    this.#known = new Map(Object.entries(known?.values ?? {}).filter(([, value]) => value !== ''))
    this.#knownHosts = known?.hosts ?? []
    this.#hosts = hosts
  }

  /** The document with the fields that the next calls are about. */
  enter(origin: string): void {
    this.#origin = origin
  }

  /** Whether the credential may be typed into this document. */
  get areKnownAllowed(): boolean {
    return isOf(this.#origin, this.#knownHosts)
  }

  /** Where the values of the fields may be typed, if they are sent together. */
  hostsOf(...fields: readonly ReadField[]): readonly string[] {
    return fields.some((field) => this.#isKnown(field)) ? this.#knownHosts : this.#hosts
  }

  /** Where codes from the credential's secret may be typed. */
  get knownHosts(): readonly string[] {
    return this.#knownHosts
  }

  /** Whether the credential has a value for the field that must not be typed here. */
  isWithheld(field: ReadField): boolean {
    return this.#isKnown(field) && !this.areKnownAllowed
  }

  /** All values that must not appear in any text. */
  get all(): string[] {
    return [...new Set([...this.#known.values(), ...this.#given.values(), ...this.#seen])]
  }

  /** The user's values, to store in a credential. */
  get typed(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#typed)
  }

  get typedAt(): readonly string[] {
    return [...this.#typedAt]
  }

  get hasLogin(): boolean {
    return this.#first(identifierRefs) !== undefined && this.#first(passwordRefs) !== undefined
  }

  get hasPassword(): boolean {
    return this.#first(passwordRefs) !== undefined
  }

  /** Names and email addresses that identify the account in a list. */
  get identifiers(): string[] {
    return identifierRefs.flatMap((ref) => this.#get(ref) ?? [])
  }

  give(field: ReadField, value: string): void {
    if (isCode(field)) this.#seen.add(value)
    this.#given.set(field.ref, value)
  }

  /** Removes the code, because a code works only once. */
  takeCode(field: ReadField): string | undefined {
    const code = this.#given.get(field.ref)
    this.#given.delete(field.ref)
    return code
  }

  note(value: string): void {
    this.#seen.add(value)
  }

  noteTyped(field: ReadField, value: string): void {
    this.#seen.add(value)
    // A known value stays where it is: stored anew, it could be typed at other places.
    if (this.#isKnown(field)) return
    const host = URL.parse(this.#origin)?.host
    if (host) this.#typedAt.add(host)
    // The new password replaces the old one.
    if (isNew(field)) this.#typed.set(this.#first(passwordRefs) ?? 'password', value)
    else if (!isCode(field)) this.#typed.set(this.#keyOf(field) ?? field.ref, value)
  }

  for(field: ReadField): string | undefined {
    const given = this.#given.get(field.ref)
    if (given !== undefined || isCode(field)) return given
    const key = this.#keyOf(field)
    if (key === undefined) return undefined
    return this.#given.get(key) ?? (this.areKnownAllowed ? this.#known.get(key) : undefined)
  }

  #isKnown(field: ReadField): boolean {
    if (isCode(field) || this.#given.has(field.ref)) return false
    const key = this.#keyOf(field)
    return key !== undefined && !this.#given.has(key) && this.#known.has(key)
  }

  #get(ref: string): string | undefined {
    return this.#given.get(ref) ?? this.#known.get(ref)
  }

  #first(refs: readonly string[]): string | undefined {
    return refs.find((ref) => this.#get(ref) !== undefined)
  }

  #keyOf(field: ReadField): string | undefined {
    const named = this.#keyByName(field)
    switch (field.kind) {
      case 'password':
        if (isNew(field)) return undefined
        return named ?? this.#first(passwordRefs)
      case 'identifier':
        return this.#identifierKey(field, named)
      case 'text':
        return named ?? this.#keyByMeaning(field)
      default:
        return undefined
    }
  }

  #identifierKey(field: ReadField, named: string | undefined): string | undefined {
    const isAddress = (ref: string) => (this.#get(ref) ?? '').includes('@')
    if (field.ref === 'email') {
      return [...(named === undefined ? [] : [named]), ...identifierRefs].find(
        (ref) => this.#get(ref) !== undefined && isAddress(ref),
      )
    }
    if (field.ref === 'phone')
      return (
        named ??
        phoneRefs.find((ref) => /\d{4}/.test(this.#get(ref) ?? '')) ??
        this.#first(['email', 'username'])
      )
    const [first, ...others] = identifierRefs
    return named ?? this.#first([...others.slice(0, 8), first!, ...others.slice(8)])
  }

  #keys(): string[] {
    return [...new Set([...this.#given.keys(), ...this.#known.keys()])]
  }

  #keyByName(field: ReadField): string | undefined {
    const element = field.elements[0]!
    const names = [field.ref, element.name, element.id, field.label].filter(Boolean)
    return this.#keys().find((key) => names.some((name) => isSameRef(key, name)))
  }

  /** Matches by meaning: the value `company` fits a field named `Firma`. */
  #keyByMeaning(field: ReadField): string | undefined {
    const element = field.elements[0]!
    const text = `${fold(field.label)} ${tokens(`${element.name} ${element.id}`)}`
    for (const meaning of [organisationWords, answerWords]) {
      if (!meaning.in(text)) continue
      const keys = this.#keys().filter((key) => meaning.in(tokens(slug(key))))
      if (keys.length === 1) return keys[0]
    }
    const alike = this.#keys().filter(
      (key) =>
        text.includes(tokens(key).split(' ')[0] ?? '\0') &&
        !identifierRefs.includes(key) &&
        !passwordRefs.includes(key),
    )
    return alike.length === 1 ? alike[0] : undefined
  }
}

export function isCode({ kind }: ReadField): boolean {
  return kind === 'code' || kind === 'totp_code'
}

function isNew({ ref }: ReadField): boolean {
  return ref.startsWith('new_password')
}
