// One login, step by step. Each turn looks at the page, decides what it is, and does one thing.
import type { PageSight } from '@berth/contracts/login-sight'
import { checkSession } from '../check.ts'
import { allowedHosts, isOf, ownHosts } from '../hosts.ts'
import { mask } from '../mask.ts'
import type { Checks, PlanStep } from '../memory.ts'
import { readPage } from '../rules/read-page.ts'
import type { Complaint, ReadChoice, ReadField, ReadForm, Reading } from '../rules/reading.ts'
import { submitOf } from '../rules/submit.ts'
import type { LoginOptions, LoginOutcome, Requirement, Submission } from '../run.ts'
import { Browser, isSame } from './browser.ts'
import { ownChoice, unattendedChoiceCode } from './choosing.ts'
import { Confirmation } from './confirmation.ts'
import { findLogin, isLogin } from './discovery.ts'
import { LoginFailed } from './failure.ts'
import { fittingStep, fittingChoice, placeOf, stepOf, stepOfChoice } from './plans.ts'
import { ask, type Asked } from './questions.ts'
import { OneTimeCodes } from './one-time-codes.ts'
import { fillAndSend, type Filled } from './typing.ts'
import { isCode, Values } from './values.ts'

const MOST_STEPS = 12
const MOST_TURNS = 80
const MOST_CONFIRMATIONS = 3
const MOST_REFUSALS = 8
const MOST_SAME_FORMS = 3

/** What was sent off last, to see what became of it. */
interface Sent {
  readonly sight: PageSight
  readonly form: ReadForm
  readonly key: string
  readonly complaints: ReadonlySet<string>
  readonly lines: ReadonlySet<string>
}

export class LoginRun {
  readonly #options: LoginOptions
  readonly #browser: Browser
  readonly #values: Values
  readonly #codes: OneTimeCodes
  readonly #hosts: readonly string[]
  readonly #own: readonly string[]
  readonly #confirmation: Confirmation
  readonly #requirements: Requirement[] = []
  readonly #steps: PlanStep[] = []
  readonly #clicked = new Set<string>()
  readonly #timesSent = new Map<string, number>()
  #sent: Sent | undefined
  #loginUrl = ''
  #stepsTaken = 0
  #confirmations = 0
  #refusals = 0
  #dismissed = 0
  #hasRetried = false
  #hasReloaded = false
  #idle = 0
  #ssoProvider: string | undefined
  #hasAnsweredHttp = false

  constructor(options: LoginOptions) {
    this.#options = options
    this.#browser = new Browser(options.hands, options.signal)
    this.#values = new Values(options.known)
    this.#codes = new OneTimeCodes(options.known, options.signal)
    this.#hosts = allowedHosts(options.domain, options.allowedDomains)
    this.#own = ownHosts(options.domain)
    this.#confirmation = new Confirmation(this.#browser, this.#own, () => this.#values.all)
  }

  async go(): Promise<LoginOutcome> {
    this.#options.onState({ step: 'DISCOVERING' })
    const known = this.#values.all
    if (known.length > 0) await this.#browser.hide(known)
    const kept = await this.#stillSignedIn()
    if (kept) return kept
    let sight = await this.#discover()
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      this.#options.signal.throwIfAborted()
      const next = await this.#turn(sight)
      if ('outcome' in next) return next.outcome
      sight = next.sight
      if (this.#stepsTaken > MOST_STEPS)
        throw new LoginFailed('max_steps_exceeded', `The login did not end within ${MOST_STEPS} steps`)
    }
    throw new LoginFailed('stuck_in_loop', 'The login went round in circles')
  }

  async #stillSignedIn(): Promise<LoginOutcome | undefined> {
    const { checks, hands, domain, allowedDomains, signal, loginUrl, plan } = this.#options
    if (!checks) return undefined
    const { result, url } = await checkSession({ hands, checks, domain, allowedDomains, signal })
    if (result !== 'in') return undefined
    return this.#success(url, checks, { loginUrl: loginUrl ?? checks.signedOut.url, plan })
  }

  async #discover(): Promise<PageSight> {
    const { loginUrl } = this.#options
    if (loginUrl) {
      await this.#referToHome(loginUrl)
      const sight = await this.#browser.settle(
        await this.#browser.visit(loginUrl),
        (each) => isLogin(each) || readPage(each).obstacle !== undefined,
      )
      this.#confirmation.refer(loginUrl, sight)
      if (isLogin(sight) || sight.failure !== null || readPage(sight).obstacle) return this.#atLogin(sight)
    }
    const home = await this.#home()
    this.#confirmation.refer(home.url, home)
    if (home.failure !== null) return this.#atLogin(home)
    const { sight } = await findLogin({ browser: this.#browser, start: home, hosts: this.#hosts })
    if (sight !== home) this.#confirmation.refer(sight.url, sight)
    return this.#atLogin(sight)
  }

  #atLogin(sight: PageSight): PageSight {
    this.#loginUrl = sight.url
    return sight
  }

  /** How the start page looks to those who are out: the best thing to compare with afterwards. */
  async #referToHome(loginUrl: string): Promise<void> {
    if (!isOf(loginUrl, this.#own)) return
    const home = new URL('/', loginUrl).href
    this.#confirmation.refer(home, await this.#browser.visitAside(home))
  }

  async #home(): Promise<PageSight> {
    const { domain, loginUrl } = this.#options
    if (loginUrl && isOf(loginUrl, this.#own)) return this.#browser.visit(new URL('/', loginUrl).href)
    const secure = await this.#browser.visit(`https://${domain}/`)
    const isInsecure =
      secure.failure !== null &&
      /SSL|CONNECTION_(REFUSED|RESET|CLOSED|TIMED_OUT)|EMPTY_RESPONSE|CERT|ADDRESS_UNREACHABLE/.test(
        secure.failure,
      )
    return isInsecure ? this.#browser.visit(`http://${domain}/`) : secure
  }

  async #turn(sight: PageSight): Promise<{ sight: PageSight } | { outcome: LoginOutcome }> {
    if (sight.failure !== null)
      return this.#retry('network_error', `The page could not be loaded: ${sight.failure}`)
    const reading = readPage(sight, { linesBefore: this.#sent?.lines })
    if (sight.http_auth) return { sight: await this.#answerHttp(sight) }
    const { obstacle, form, choices, waiting, confirm, dismiss } = reading
    if (obstacle && !this.#isHarmless(obstacle.code, reading)) {
      const text = obstacle.text && mask(obstacle.text, this.#values.all)
      if (obstacle.code === 'website_error') return this.#retry('website_error', obstacle.message, text)
      throw new LoginFailed(obstacle.code, obstacle.message, text)
    }
    if (form || choices.length > 0) this.#requireAllowed(sight, form?.frame ?? 0)
    if (waiting !== undefined) return { sight: await this.#wait(sight, reading, waiting) }
    if (form) return { sight: await this.#atForm(sight, reading, form) }
    if (choices.length > 0) return { sight: await this.#choose(sight, reading) }
    if (confirm && this.#confirmations < MOST_CONFIRMATIONS && this.#isOnTheWay()) {
      this.#confirmations++
      this.#requireAllowed(sight, 0)
      this.#stepsTaken++
      if (await this.#browser.click(confirm)) return { sight: await this.#browser.lookAfterAct() }
    }
    const outcome = await this.#confirmed(sight, reading)
    if (outcome) return { outcome }
    if (dismiss && this.#dismissed < 2) {
      this.#dismissed++
      if (await this.#browser.click(dismiss)) return { sight: await this.#browser.lookAfterAct() }
    }
    return { sight: await this.#lingered(sight) }
  }

  /** What a page says of captchas and keys is no obstacle where there is another way. */
  #isHarmless(code: string, { waiting, choices, confirm }: Reading): boolean {
    return (
      code === 'unsupported_auth_method' &&
      (waiting !== undefined || choices.length > 0 || confirm !== undefined)
    )
  }

  #isOnTheWay(): boolean {
    return this.#timesSent.size > 0 || this.#clicked.size > 0 || this.#hasAnsweredHttp
  }

  async #retry(
    code: 'network_error' | 'website_error',
    message: string,
    websiteError?: string,
  ): Promise<{ sight: PageSight }> {
    if (this.#hasRetried) throw new LoginFailed(code, message, websiteError)
    this.#hasRetried = true
    // The website never said anything of what was sent, so it may be sent again.
    this.#sent = undefined
    this.#timesSent.clear()
    const address = this.#loginUrl || this.#options.loginUrl
    return { sight: address ? await this.#browser.visit(address) : await this.#home() }
  }

  #requireAllowed(sight: PageSight, frame: number): void {
    const origins = [sight.url, sight.frames[frame]?.origin ?? sight.url]
    if (origins.every((origin) => isOf(origin, this.#hosts))) return
    const { host = 'another place' } =
      URL.parse(origins.find((origin) => !isOf(origin, this.#hosts)) ?? '') ?? {}
    throw new LoginFailed(
      'domain_not_allowed',
      `The login leads to ${host}, which is not allowed; add it to allowed_domains if it is to be trusted`,
    )
  }

  /** Nothing to do: perhaps the page is not finished. */
  async #lingered(sight: PageSight): Promise<PageSight> {
    this.#idle++
    if (this.#idle > 4) {
      if (!this.#isOnTheWay())
        throw new LoginFailed(
          'login_form_not_found',
          'The page has no login that could be recognised; set login_url to its address',
        )
      if (!isOf(sight.url, this.#own))
        throw new LoginFailed(
          'domain_not_allowed',
          `The login ended at ${URL.parse(sight.url)?.host ?? 'another place'}, not at the domain`,
        )
      throw new LoginFailed('navigation_confused', 'It could not be confirmed that the login succeeded')
    }
    return this.#browser.lookForChange(2_000)
  }

  async #atForm(sight: PageSight, reading: Reading, form: ReadForm): Promise<PageSight> {
    this.#idle = 0
    const key = keyOf(sight, form)
    const refused = this.#refusalOf(sight, reading, form, key)
    if (refused === 'unchanged') return this.#unchanged()
    if (refused) return this.#onRefusal(sight, reading, form, refused)
    if ((this.#timesSent.get(key) ?? 0) >= MOST_SAME_FORMS)
      throw new LoginFailed('stuck_in_loop', 'The website asks for the same again and again')
    const own = ownChoice(reading, {
      known: this.#options.known,
      values: this.#values,
      clicked: this.#clicked,
      planned: fittingChoice(sight, reading, this.#options.plan),
    })
    if (own && !this.#covers(form)) return this.#click(sight, own, true)
    if (own?.kind === 'sso_provider') return this.#click(sight, own, true)
    const missing = form.fields.filter((field) => field.isRequired && !this.#has(field))
    if (missing.length === 0) return this.#fill(sight, form, key)
    const isPartlyChosen = reading.choices.some(({ option }) => option !== undefined)
    if (!this.#options.isAttended) throw missingCode(missing)
    return this.#ask(
      sight,
      reading,
      {
        fields: form.fields.filter((field) => !this.#has(field)),
        refused: new Set(),
        optional: new Set(),
        choices: reading.choices.filter(({ option }) => isPartlyChosen || option === undefined),
        externalAction: undefined,
        websiteError: undefined,
      },
      form,
    )
  }

  #has(field: ReadField): boolean {
    if (isCode(field)) return this.#values.for(field) !== undefined || this.#codes.covers(field)
    const value = this.#values.for(field)
    return value !== undefined
  }

  #covers(form: ReadForm): boolean {
    return form.fields.every((field) => !field.isRequired || this.#has(field))
  }

  /** What became of what was sent, if this is the form it was sent from. */
  #refusalOf(
    sight: PageSight,
    reading: Reading,
    form: ReadForm,
    key: string,
  ): Complaint | 'unchanged' | undefined {
    const sent = this.#sent
    const times = this.#timesSent.get(key) ?? 0
    if (!sent || times === 0) return undefined
    const isReloaded = sight.document !== sent.sight.document
    const fresh = reading.complaints.find(
      ({ text, kind }) => kind !== 'required' && (isReloaded || !sent.complaints.has(text)),
    )
    if (fresh) return fresh
    if (key !== sent.key) return undefined
    const isEmptied = form.fields.some(
      ({ kind, elements }) =>
        (kind === 'password' || kind.includes('code')) && elements.every((element) => !element.has_value),
    )
    if (isReloaded || isEmptied) {
      return { text: reading.complaints[0]?.text ?? '', about: 'any', kind: 'wrong' }
    }
    const old = reading.complaints.find(({ kind }) => kind !== 'required')
    return this.#idle > 3 && old ? old : 'unchanged'
  }

  /** It was sent and nothing happened, yet. */
  async #unchanged(): Promise<PageSight> {
    const sent = this.#sent!
    this.#idle++
    if (this.#idle === 3 && !this.#hasReloaded) {
      this.#hasReloaded = true
      const last = sent.form.fields.at(-1)?.elements.at(-1)
      if (last) await this.#browser.act({ act: 'enter', refs: [last.ref] })
      return this.#browser.lookAfterAct()
    }
    if (this.#idle > 6)
      throw new LoginFailed('navigation_confused', 'The website did not answer what was sent to it')
    return this.#browser.lookForChange(3_000)
  }

  async #onRefusal(
    sight: PageSight,
    reading: Reading,
    form: ReadForm,
    complaint: Complaint,
  ): Promise<PageSight> {
    this.#sent = undefined
    this.#refusals++
    const websiteError = complaint.text ? mask(complaint.text, this.#values.all) : undefined
    const codes = form.fields.filter(isCode)
    const isAboutCode = complaint.about === 'code' || form.kind === 'code'
    if (isAboutCode && codes.length > 0 && (await this.#codes.renew(codes))) {
      this.#timesSent.delete(keyOf(sight, form))
      return this.#browser.lookNow()
    }
    const refused = form.fields.filter((field) => isAbout(field, complaint, form))
    for (const field of refused) this.#values.refuse(field)
    if (!this.#options.isAttended) {
      if (isAboutCode)
        throw new LoginFailed(
          this.#codes.wasUsed ? 'totp_code_rejected' : 'credentials_invalid',
          'The website refused the code',
          websiteError,
        )
      throw new LoginFailed('credentials_invalid', 'The website refused what was filled in', websiteError)
    }
    if (this.#refusals > MOST_REFUSALS)
      throw new LoginFailed(
        'max_attempts_reached',
        `The website refused ${MOST_REFUSALS} attempts`,
        websiteError,
      )
    this.#codes.stop()
    this.#timesSent.clear()
    const isName = (field: ReadField) => field.kind === 'identifier' && complaint.about !== 'identifier'
    return this.#ask(
      sight,
      reading,
      {
        fields: form.fields.filter((field) => refused.includes(field) || !this.#has(field)),
        refused: new Set(refused.map(({ ref }) => ref)),
        optional: new Set(refused.filter(isName).map(({ ref }) => ref)),
        choices: reading.choices,
        externalAction: undefined,
        websiteError: complaint.text || undefined,
      },
      form,
    )
  }

  async #fill(sight: PageSight, form: ReadForm, key: string): Promise<PageSight> {
    const isPlanned = fittingStep(sight, { form } as Reading, this.#options.plan) !== undefined
    this.#options.onState({ step: 'SUBMITTING' })
    this.#stepsTaken++
    const filled: Filled[] = []
    for (const field of form.fields) {
      const value = isCode(field)
        ? (this.#values.takeCode(field) ?? (await this.#codes.take(field)))
        : this.#values.for(field)
      if (value === undefined) continue
      this.#values.note(value)
      filled.push({ field, value })
    }
    await this.#browser.hide(this.#values.all)
    const result = await fillAndSend(this.#browser, sight, form, filled, this.#hosts)
    if (result === 'page is another') return this.#browser.lookAfterAct()
    for (const { field, value } of filled) {
      this.#values.noteTyped(field, value)
      this.#require(requirementOf(field, this.#codes.wasUsed))
    }
    this.#steps.push(stepOf(sight, form, this.#values.all))
    this.#remember(sight, form, key)
    this.#confirmations = 0
    this.#idle = isPlanned ? 0 : this.#idle
    return this.#browser.lookAfterAct()
  }

  #remember(sight: PageSight, form: ReadForm, key: string): void {
    const { complaints } = readPage(sight)
    this.#timesSent.set(key, (this.#timesSent.get(key) ?? 0) + 1)
    this.#sent = {
      sight,
      form,
      key,
      complaints: new Set(complaints.map(({ text }) => text)),
      lines: new Set(sight.frames.flatMap(({ text }) => text.split('\n'))),
    }
  }

  async #choose(sight: PageSight, reading: Reading): Promise<PageSight> {
    this.#idle = 0
    const own = ownChoice(reading, {
      known: this.#options.known,
      values: this.#values,
      clicked: this.#clicked,
      planned: fittingChoice(sight, reading, this.#options.plan),
    })
    if (own) return this.#click(sight, own, true)
    if (!this.#options.isAttended) throw unattendedChoiceCode(reading.choices)
    return this.#ask(
      sight,
      reading,
      {
        fields: [],
        refused: new Set(),
        optional: new Set(),
        choices: reading.choices,
        externalAction: undefined,
        websiteError: undefined,
      },
      undefined,
    )
  }

  async #click(sight: PageSight, choice: ReadChoice, isOwn: boolean): Promise<PageSight> {
    this.#options.onState({ step: 'SUBMITTING' })
    this.#stepsTaken++
    this.#clicked.add(clickKey(sight, choice))
    if (choice.kind === 'sso_provider') this.#ssoProvider = choice.provider
    if (!isOwn) this.#require('choice')
    this.#steps.push(stepOfChoice(sight, choice, this.#values.all))
    const { element, option } = choice
    const { result } = await this.#browser.act(
      option === undefined
        ? { act: 'click', refs: [element.ref] }
        : { act: 'choose', refs: [element.ref], value: option },
    )
    if (result === 'refused') await this.#clearAndClick(sight, choice)
    if (element.type === 'radio') await this.#sendChoice(element.ref)
    this.#sent = undefined
    return this.#browser.lookAfterAct()
  }

  async #clearAndClick(sight: PageSight, { element }: ReadChoice): Promise<void> {
    const { dismiss } = readPage(sight)
    if (dismiss && (await this.#browser.click(dismiss)) && (await this.#browser.click(element))) return
    throw new LoginFailed('element_not_found', 'What was chosen could not be clicked')
  }

  /** A radio button waits for another one to be pressed. */
  async #sendChoice(ref: string): Promise<void> {
    const sight = await this.#browser.lookNow()
    const radio = sight.elements.find((element) => element.ref === ref)
    if (!radio) return
    const scene = {
      frame: sight.frames[radio.frame]!,
      index: radio.frame,
      elements: sight.elements.filter(({ frame }) => frame === radio.frame),
    }
    const submit = submitOf(scene, radio.group, [radio])
    if (submit) await this.#browser.click(submit)
  }

  async #ask(
    sight: PageSight,
    reading: Reading,
    toAsk: Omit<Parameters<typeof ask>[0], 'secrets'>,
    form: ReadForm | undefined,
  ): Promise<PageSight> {
    const asked = ask({ ...toAsk, secrets: this.#values.all })
    const isWaiting = toAsk.externalAction !== undefined
    this.#options.onState({
      step: isWaiting ? 'AWAITING_EXTERNAL_ACTION' : 'AWAITING_INPUT',
      question: asked.question,
    })
    const answer = await this.#answerOrChange(sight, reading, asked)
    if ('changed' in answer) return answer.changed
    this.#stepsTaken = 0
    this.#options.onState({ step: 'SUBMITTING' })
    const { values, choiceId } = answer.submission
    for (const [id, value] of Object.entries(values)) {
      const field = asked.fieldOf.get(id)
      if (field && value !== '') this.#values.give(field, value)
    }
    const choice = choiceId === undefined ? undefined : asked.choiceOf.get(choiceId)
    if (choice) return this.#click(sight, choice, false)
    const now = await this.#browser.lookNow()
    const still = readPage(now).form
    if (form && still && still.signature === form.signature && this.#covers(still))
      return this.#fill(now, still, keyOf(now, still))
    return now
  }

  /** Whichever is first: what the person submits, or that the page has gone on by itself. */
  async #answerOrChange(
    sight: PageSight,
    reading: Reading,
    asked: Asked,
  ): Promise<{ submission: Submission } | { changed: PageSight }> {
    const done = new AbortController()
    const signal = AbortSignal.any([this.#options.signal, done.signal])
    const submitted = this.#options.submitted(asked.question, signal).then((submission) => ({ submission }))
    const changed = this.#pageGoesOn(sight, reading, signal).then((each) => ({ changed: each }))
    // The one that loses rejects with our own abort, or is waited for below.
    submitted.catch(() => {})
    changed.catch(() => {})
    try {
      return await Promise.race([submitted, changed])
    } finally {
      done.abort()
      await Promise.allSettled([changed])
    }
  }

  async #pageGoesOn(sight: PageSight, reading: Reading, signal: AbortSignal): Promise<PageSight> {
    for (;;) {
      const now = await this.#browser.lookForChange(5_000, signal)
      signal.throwIfAborted()
      const next = readPage(now)
      const isOther =
        now.document !== sight.document ||
        next.form?.signature !== reading.form?.signature ||
        (next.waiting === undefined) !== (reading.waiting === undefined) ||
        next.choices.length !== reading.choices.length
      if (isOther && now.failure === null && !isSame(sight, now)) {
        const settled = await this.#browser.lookForChange(500, signal)
        const again = readPage(settled)
        // A page that only drew itself anew is the same one.
        if (
          again.form?.signature !== reading.form?.signature ||
          again.waiting !== reading.waiting ||
          placeOf(settled) !== placeOf(sight)
        )
          return settled
      }
    }
  }

  async #wait(sight: PageSight, reading: Reading, message: string): Promise<PageSight> {
    this.#idle = 0
    this.#require('external_action')
    const own = ownChoice(reading, {
      known: this.#options.known,
      values: this.#values,
      clicked: this.#clicked,
      planned: undefined,
    })
    if (own) {
      this.#requirements.pop()
      return this.#click(sight, own, true)
    }
    if (!this.#options.isAttended)
      throw new LoginFailed(
        'external_action_required',
        'The website waits for somebody to act elsewhere',
        mask(message, this.#values.all),
      )
    return this.#ask(
      sight,
      reading,
      {
        fields: reading.form?.fields ?? [],
        refused: new Set(),
        optional: new Set(reading.form?.fields.map(({ ref }) => ref)),
        choices: reading.choices,
        externalAction: message,
        websiteError: undefined,
      },
      reading.form,
    )
  }

  async #answerHttp(sight: PageSight): Promise<PageSight> {
    const { origin, scheme, is_rejected: isRejected } = sight.http_auth!
    if (!/^(basic|digest)$/i.test(scheme))
      throw new LoginFailed(
        'unsupported_auth_method',
        `The website asks for HTTP authentication of the kind "${scheme}"`,
      )
    if (!isOf(origin, this.#hosts)) this.#requireAllowed({ ...sight, url: origin }, 0)
    const [user, password] = httpFields()
    const wasRefused = isRejected && this.#hasAnsweredHttp
    if (wasRefused) {
      this.#refusals++
      if (!this.#options.isAttended)
        throw new LoginFailed(
          'credentials_invalid',
          'The website refused the user name or the password (HTTP 401)',
        )
      if (this.#refusals > MOST_REFUSALS)
        throw new LoginFailed('max_attempts_reached', `The website refused ${MOST_REFUSALS} attempts`)
      for (const field of [user, password]) this.#values.refuse(field)
    }
    const missing = [user, password].filter((field) => wasRefused || this.#values.for(field) === undefined)
    if (missing.length > 0) {
      if (!this.#options.isAttended) throw missingCode(missing)
      const asked = ask({
        fields: missing,
        refused: new Set(wasRefused ? missing.map(({ ref }) => ref) : []),
        optional: new Set(wasRefused ? [user.ref] : []),
        choices: [],
        externalAction: undefined,
        websiteError: wasRefused ? 'Unauthorized' : undefined,
        secrets: this.#values.all,
      })
      this.#options.onState({ step: 'AWAITING_INPUT', question: asked.question })
      const { values } = await this.#options.submitted(asked.question, this.#options.signal)
      for (const [id, value] of Object.entries(values)) {
        const field = asked.fieldOf.get(id)
        if (field && value !== '') this.#values.give(field, value)
      }
      this.#stepsTaken = 0
    }
    return this.#sendHttp(sight, user, password)
  }

  async #sendHttp(sight: PageSight, user: ReadField, password: ReadField): Promise<PageSight> {
    this.#options.onState({ step: 'SUBMITTING' })
    this.#stepsTaken++
    const name = this.#values.for(user) ?? ''
    const secret = this.#values.for(password) ?? ''
    await this.#browser.hide(this.#values.all)
    const { result } = await this.#browser.act({
      act: 'authenticate',
      user: name,
      value: secret,
      hosts: [...this.#hosts],
    })
    if (result !== 'done')
      throw new LoginFailed(
        'domain_not_allowed',
        'The page that asks for HTTP authentication is not of an allowed domain',
      )
    this.#hasAnsweredHttp = true
    for (const [field, value] of [
      [user, name],
      [password, secret],
    ] as const) {
      this.#values.noteTyped(field, value)
      this.#require(requirementOf(field, false))
    }
    return this.#browser.visit(sight.url)
  }

  async #confirmed(sight: PageSight, reading: Reading): Promise<LoginOutcome | undefined> {
    if (!isOf(sight.url, this.#own) || sight.is_popup) return undefined
    if (!this.#isOnTheWay() && !reading.signs.isSignedIn) return undefined
    const checks = await this.#confirmation.confirm(sight, this.#loginUrl)
    return (
      checks &&
      this.#success(sight.url, checks, { loginUrl: this.#loginUrl, plan: { version: 1, steps: this.#steps } })
    )
  }

  #success(
    postLoginUrl: string,
    checks: Checks,
    { loginUrl, plan }: { loginUrl: string; plan: LoginOptions['plan'] },
  ): LoginOutcome {
    return {
      isSuccess: true,
      postLoginUrl,
      loginUrl,
      plan,
      checks,
      requirements: [...new Set(this.#requirements)],
      values: this.#values.typed,
      ssoProvider: this.#ssoProvider,
    }
  }

  #require(requirement: Requirement): void {
    this.#requirements.push(requirement)
  }
}

function keyOf(sight: PageSight, form: ReadForm): string {
  return `${sight.frames[form.frame]?.origin ?? ''} ${form.signature}`
}

export function clickKey(sight: PageSight, { kind, provider, label, option }: ReadChoice): string {
  return `${placeOf(sight)} ${kind} ${provider ?? label} ${option ?? ''}`
}

function isAbout(field: ReadField, { about }: Complaint, form: ReadForm): boolean {
  if (form.fields.length === 1) return true
  if (about === 'code') return isCode(field)
  if (about === 'identifier') return field.kind === 'identifier'
  if (about === 'password') return field.kind === 'password'
  return true
}

function requirementOf(field: ReadField, wasTotp: boolean): Requirement {
  switch (field.kind) {
    case 'identifier':
    case 'password':
    case 'text':
      return field.kind
    default:
      if (field.mfaType === 'totp' || wasTotp) return 'totp'
      return field.mfaType === 'sms' ? 'sms_code' : field.mfaType === 'email' ? 'email_code' : 'code'
  }
}

function missingCode(missing: readonly ReadField[]): LoginFailed {
  const code = missing.find(isCode)
  const names = missing.map(({ label }) => `"${label}"`).join(', ')
  if (!code)
    return new LoginFailed(
      'customer_input_required',
      `The website asks for ${names}, which the credential does not have`,
    )
  if (code.mfaType === 'sms')
    return new LoginFailed('sms_code_required', 'The website asks for a code that it sent to the phone')
  if (code.mfaType === 'email')
    return new LoginFailed('email_code_required', 'The website asks for a code that it sent by e-mail')
  if (code.mfaType === 'totp')
    return new LoginFailed(
      'totp_required',
      'The website asks for a code of an authenticator app, and the credential has no TOTP secret',
    )
  return new LoginFailed('totp_required', 'The website asks for a one-time code')
}

function httpFields(): [ReadField, ReadField] {
  const common = { hint: undefined, isRequired: true, mfaType: undefined, elements: [nowhere] }
  return [
    { ...common, kind: 'identifier', ref: 'username', inputType: 'text', label: 'User name' },
    { ...common, kind: 'password', ref: 'password', inputType: 'password', label: 'Password' },
  ]
}

/** The browser asks itself; there is no element. */
const nowhere = { name: '', id: '', placeholder: '', selector: '' } as ReadField['elements'][number]
