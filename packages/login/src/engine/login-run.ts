// One login, step by step. Each turn reads the page, decides what it is, and does one thing.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { examine } from '../check/check.ts'
import { plain } from '../check/page-summary.ts'
import { Explanation } from '../explain/explanation.ts'
import { allowedHosts, isOf, ownHosts } from '../hosts/hosts.ts'
import { mask } from '../rules/mask.ts'
import type { Checks, PlanStep } from '../run/memory.ts'
import { isAboutCaptcha } from '../rules/captcha-kind.ts'
import { readPage } from '../rules/read-page.ts'
import type { Complaint, Confirm, ReadChoice, ReadField, ReadForm, Reading } from '../rules/reading.ts'
import { submitOf } from '../rules/submit.ts'
import type { LoginOptions, LoginOutcome, Requirement } from '../run/run.ts'
import { Browser } from './browser.ts'
import { ownChoice } from './choosing.ts'
import { Confirmation } from './confirmation.ts'
import { Conversation } from './conversation.ts'
import { findLogin, isLogin, notFound } from './discovery.ts'
import { LoginFailed } from './failure.ts'
import { isOfMail, Mails } from './mails.ts'
import { Handover } from './handover.ts'
import { openHome } from './home.ts'
import { HttpLogin } from './http-login.ts'
import { OneTimeCodes } from './one-time-codes.ts'
import { PasskeyLogin } from './passkeys.ts'
import { fittingChoice, fittingStep, placeOf, stepOf, stepOfChoice } from './plans.ts'
import type { ToAsk } from './questions.ts'
import { lacking, requirementOf, undecided, withheld } from './requirements.ts'
import { keyOf, Sent } from './sent.ts'
import { Solver } from './solver.ts'
import { enabled, fillAndSend, send, type Filled } from './typing.ts'
import { isCode, Values } from './values.ts'

/** Steps without input from the user in between. */
const MAX_STEPS = 12
const MAX_TURNS = 100
const MAX_CONFIRMATIONS = 3
const MAX_REFUSALS = 8
const MAX_SAME_FORMS = 3
const MAX_DISMISSALS = 2
/** Looks at a page that offers nothing to do or does not respond. */
const MAX_IDLE_LOOKS = 5
/** Afterwards the person shows the login. */
const DISCOVERY_TIMEOUT_MS = 25_000
/** For the answer to a submitted form, as long as the website is busy with it. */
const ANSWER_TIMEOUT_MS = 60_000
const PAINTING_TIMEOUT_MS = 30_000
/** For the page that waits until its link was opened. */
const LINK_TIMEOUT_MS = 4_000

type Turn = { readonly snapshot: PageSnapshot } | { readonly outcome: LoginOutcome }

export class LoginRun {
  readonly #options: LoginOptions
  readonly #explain: Explanation
  readonly #browser: Browser
  readonly #values: Values
  readonly #codes: OneTimeCodes
  readonly #mails: Mails
  readonly #conversation: Conversation
  readonly #handover: Handover
  readonly #solver: Solver
  readonly #http: HttpLogin
  readonly #passkeys: PasskeyLogin
  readonly #hosts: readonly string[]
  readonly #own: readonly string[]
  readonly #confirmation: Confirmation
  readonly #requirements = new Set<Requirement>()
  readonly #steps: PlanStep[] = []
  readonly #clicked = new Set<string>()
  readonly #timesSent = new Map<string, number>()
  #sent: Sent | undefined
  #loginUrl = ''
  #stepsTaken = 0
  #confirmations = 0
  #refusals = 0
  #dismissals = 0
  #idleLooks = 0
  #hasRetried = false
  #ssoProvider: string | undefined

  constructor(given: LoginOptions) {
    this.#explain = new Explanation(given, () => this.#values.all)
    const { pageActions, onState } = this.#explain
    const options = { ...given, pageActions, onState }
    this.#options = options
    this.#browser = new Browser(options.pageActions, options.signal)
    this.#hosts = allowedHosts(options.domain, options.allowedDomains)
    this.#values = new Values(options.known, this.#hosts)
    this.#codes = new OneTimeCodes(options.known, () => this.#values.areKnownAllowed, options.signal)
    this.#mails = new Mails(options, () => this.#values.areKnownAllowed)
    this.#conversation = new Conversation(options, this.#browser, this.#values)
    this.#handover = new Handover(this.#browser, this.#conversation)
    this.#passkeys = new PasskeyLogin({ options, browser: this.#browser, conversation: this.#conversation })
    this.#solver = new Solver(options, this.#browser, this.#hosts)
    this.#own = ownHosts(options.domain)
    this.#confirmation = new Confirmation(this.#browser, this.#own, () => this.#values.all)
    this.#http = new HttpLogin({
      browser: this.#browser,
      conversation: this.#conversation,
      values: this.#values,
      isAttended: options.isAttended,
    })
  }

  async go(): Promise<LoginOutcome> {
    try {
      const outcome = await this.#go()
      await this.#explain.end(outcome)
      return outcome
    } catch (error) {
      if (!(error instanceof LoginFailed)) throw error
      const { code, message, websiteError } = error
      const outcome: LoginOutcome = { isSuccess: false, code, message, websiteError }
      await this.#explain.end(outcome)
      return outcome
    } finally {
      this.#explain.stop()
    }
  }

  async #go(): Promise<LoginOutcome> {
    this.#options.onState({ step: 'DISCOVERING' })
    await this.#passkeys.recover()
    const outcome = await this.#logIn()
    if (!outcome.isSuccess) return outcome
    await this.#passkeys.add()
    return { ...outcome, passkeys: this.#passkeys.made }
  }

  async #logIn(): Promise<LoginOutcome> {
    if (this.#values.all.length > 0) await this.#browser.hide(this.#values.all)
    const { kept, page } = await this.#stillSignedIn()
    if (kept) return kept
    let snapshot = await this.#withPasskeys(this.#loginIn(page) ?? (await this.#find()))
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      this.#options.signal.throwIfAborted()
      const next = await this.#turn(snapshot)
      if ('outcome' in next) return next.outcome
      snapshot = next.snapshot
      if (this.#stepsTaken > MAX_STEPS) {
        throw new LoginFailed(
          'max_steps_exceeded',
          `Cannot complete the login: it did not end within ${MAX_STEPS} steps`,
        )
      }
    }
    throw new LoginFailed('stuck_in_loop', 'Cannot complete the login: the website leads in circles')
  }

  /** With keys that can answer, the login is opened again: pages ask for passkeys while they load. */
  async #withPasskeys(found: PageSnapshot): Promise<PageSnapshot> {
    await this.#passkeys.arm()
    if (!this.#passkeys.fits(found)) return found
    const again = await this.#browser.visitUntil(found.url, isFound)
    return isFound(again) || (await this.#passkeys.lookWhetherAnswered()) ? again : this.#find()
  }

  /** Also returns the page that showed that nobody is signed in. */
  async #stillSignedIn(): Promise<{ kept?: LoginOutcome; page?: PageSnapshot }> {
    const { checks, pageActions, domain, allowedDomains, signal, loginUrl, plan } = this.#options
    if (!checks) return {}
    this.#explain.search('check_session')
    const examined = await examine({ pageActions, checks, domain, allowedDomains, isEarly: true, signal })
    const { result, url } = examined.outcome
    if (result === 'in')
      return { kept: this.#success(url, checks, { loginUrl: loginUrl ?? checks.signedOut.url, plan }) }
    if (result !== 'out') return {}
    // The profile may still have cookies of the last login, so cookies prove nothing later. This signed-out page does.
    this.#confirmation.refer(checks.url, examined.snapshot)
    return { page: examined.snapshot }
  }

  /** Most websites lead signed-out visitors to the login, so it may be there already. */
  #loginIn(page: PageSnapshot | undefined): PageSnapshot | undefined {
    if (!page || !this.#isPlanned(page)) return undefined
    this.#loginUrl = this.#options.loginUrl ?? page.url
    return page
  }

  /** If the rules do not find the login in time, the person shows it. */
  async #find(): Promise<PageSnapshot> {
    try {
      return await this.#browser.within(DISCOVERY_TIMEOUT_MS, () => this.#discover())
    } catch (error) {
      const isShown =
        error instanceof LoginFailed && error.code === 'login_form_not_found' && this.#options.isAttended
      if (!isShown) throw error
      const { loginUrl } = this.#options
      return this.#show(loginUrl ? await this.#browser.visit(loginUrl) : await this.#home())
    }
  }

  async #show(start: PageSnapshot): Promise<PageSnapshot> {
    await this.#explain.note('show_login', start)
    const snapshot = await this.#handover.login(start)
    this.#idleLooks = 0
    this.#confirmation.refer(snapshot.url, snapshot)
    return this.#atLogin(snapshot)
  }

  async #discover(): Promise<PageSnapshot> {
    const { loginUrl } = this.#options
    if (loginUrl && this.#options.plan) {
      const snapshot = await this.#browser.visitBriefly(loginUrl)
      this.#confirmation.refer(loginUrl, snapshot)
      if (this.#isPlanned(snapshot)) return this.#atLogin(snapshot)
    }
    if (loginUrl) {
      const snapshot =
        (await this.#throughHome(loginUrl)) ??
        (await this.#browser.settle(await this.#browser.visitUntil(loginUrl, isFound), isFound))
      this.#confirmation.refer(loginUrl, snapshot)
      if (isFound(snapshot)) return this.#atLogin(snapshot)
    }
    const home = await this.#home()
    this.#confirmation.refer(home.url, home)
    if (home.failure !== null) return this.#atLogin(home)
    const onPage = (snapshot: PageSnapshot) => this.#confirmation.refer(snapshot.url, snapshot)
    const snapshot = await findLogin({ browser: this.#browser, start: home, hosts: this.#hosts, onPage })
    onPage(snapshot)
    return this.#atLogin(snapshot)
  }

  /** Matches the plan and is not submitted yet, so there is nothing to wait for. */
  #isPlanned(snapshot: PageSnapshot): boolean {
    const reading = readPage(snapshot)
    const { form } = reading
    if (!form || this.#timesSent.has(keyOf(snapshot, form))) return false
    return fittingStep(snapshot, reading, this.#options.plan) !== undefined
  }

  #atLogin(snapshot: PageSnapshot): PageSnapshot {
    this.#loginUrl = snapshot.url
    return snapshot
  }

  /**
   * Remembers how the start page looks when signed out, which is the best page to compare with later. Returns the login if
   * the start page leads there by itself.
   */
  async #throughHome(loginUrl: string): Promise<PageSnapshot | undefined> {
    if (!isOf(loginUrl, this.#own)) return undefined
    const home = new URL('/', loginUrl).href
    const isTelling = (each: PageSnapshot) => isFound(each) || readPage(each).signs.isSignedOut
    const snapshot = await this.#browser.visitUntil(home, isTelling)
    this.#confirmation.refer(home, snapshot)
    const wanted = URL.parse(loginUrl)?.href
    return (home === wanted || snapshot.url === wanted) && isFound(snapshot) ? snapshot : undefined
  }

  #home(): Promise<PageSnapshot> {
    return openHome(this.#browser, this.#options)
  }

  async #turn(snapshot: PageSnapshot): Promise<Turn> {
    if (snapshot.failure !== null) {
      await this.#explain.note('did_not_load', snapshot)
      return this.#retry('network_error', `Cannot load the page: ${snapshot.failure}`)
    }
    const reading = readPage(snapshot, { linesBefore: this.#sent?.lines })
    const { obstacle, form, choices, waiting, confirm, dismiss } = reading
    const byPasskey = await this.#passkeys.next(snapshot, reading)
    if (byPasskey) {
      await this.#explain.note('passkey', snapshot, reading)
      return {
        snapshot: 'press' in byPasskey ? await this.#click(snapshot, byPasskey.press) : byPasskey.snapshot,
      }
    }
    // Next to a form, a script of the page got the 401 and the page reports it. Answering would be another login attempt.
    if (snapshot.http_auth && !form) {
      await this.#explain.note('http_auth', snapshot, reading)
      return { snapshot: await this.#answerHttp(snapshot) }
    }
    const entered = obstacle?.isUncertain === true ? await this.#confirmed(snapshot, reading) : undefined
    if (entered) return { outcome: entered }
    if (obstacle && !isAvoidable(reading)) {
      const text = obstacle.text && mask(obstacle.text, this.#values.all)
      if (obstacle.code === 'captcha_blocked' && this.#canPassCaptcha)
        return { snapshot: await this.#leaveCaptcha(snapshot, reading, undefined) }
      if (obstacle.code === 'unsupported_auth_method') {
        const later = await this.#passkeys.afterPress()
        if (later) return { snapshot: later }
        throw this.#passkeys.refusal({ ...obstacle, text })
      }
      if (obstacle.code === 'website_error') {
        await this.#explain.note('website_error', snapshot, reading)
        return this.#retry('website_error', obstacle.message, text)
      }
      throw new LoginFailed(obstacle.code, obstacle.message, text)
    }
    if (form || choices.length > 0) this.#requireAllowed(snapshot, form?.frame ?? 0)
    if (form) this.#enter(snapshot, form)
    if (waiting !== undefined) return { snapshot: await this.#wait(snapshot, reading, waiting) }
    if (form) return { snapshot: await this.#atForm(snapshot, reading, form) }
    if (choices.length > 0) return { snapshot: await this.#choose(snapshot, reading) }
    const offered = this.#hasStarted ? await this.#passkeys.offered(snapshot, reading) : undefined
    if (offered) return { snapshot: offered }
    const further = confirm && (await this.#goFurther(snapshot, confirm))
    if (further) return { snapshot: further }
    const outcome = await this.#confirmed(snapshot, reading)
    if (outcome) return { outcome }
    if (dismiss) await this.#explain.note('dismiss', snapshot, reading)
    if (dismiss && this.#dismissals++ < MAX_DISMISSALS && (await this.#browser.click(dismiss))) {
      return { snapshot: await this.#browser.lookAfterAct() }
    }
    return { snapshot: await this.#linger(snapshot) }
  }

  /** The website never responded to what was submitted, so one more attempt is safe. */
  async #retry(
    code: 'network_error' | 'website_error',
    message: string,
    websiteError?: string,
  ): Promise<Turn> {
    if (this.#hasRetried) throw new LoginFailed(code, message, websiteError)
    this.#hasRetried = true
    this.#sent = undefined
    this.#timesSent.clear()
    const address = this.#options.loginUrl ?? this.#loginUrl
    return { snapshot: address ? await this.#browser.visit(address) : await this.#home() }
  }

  #requireAllowed(snapshot: PageSnapshot, frame: number): void {
    const stranger = [snapshot.url, snapshot.frames[frame]?.origin ?? snapshot.url].find(
      (origin) => !isOf(origin, this.#hosts),
    )
    if (stranger === undefined) return
    const host = URL.parse(stranger)?.host || 'another site'
    throw new LoginFailed(
      'domain_not_allowed',
      `Cannot continue the login: it leads to ${host}, which is not allowed; add it to allowed_domains if you trust it`,
    )
  }

  #enter({ url, frames }: PageSnapshot, { frame }: ReadForm): void {
    this.#values.enter(frames[frame]?.origin ?? url)
  }

  get #hasStarted(): boolean {
    return (
      this.#timesSent.size > 0 ||
      this.#clicked.size > 0 ||
      this.#http.hasAnswered ||
      this.#passkeys.hasAnswered
    )
  }

  async #answerHttp(snapshot: PageSnapshot): Promise<PageSnapshot> {
    this.#requireAllowed({ ...snapshot, url: snapshot.http_auth!.origin }, snapshot.frames.length)
    this.#step()
    const next = await this.#http.answer(snapshot)
    this.#requirements.add('identifier').add('password')
    return next
  }

  #step(): void {
    this.#mails.noteAsking()
    this.#idleLooks = 0
    this.#stepsTaken++
    this.#options.onState({ step: 'SUBMITTING' })
  }

  /** Nothing to do yet; the page may still be loading. */
  async #linger(snapshot: PageSnapshot): Promise<PageSnapshot> {
    if (this.#isAnswering(snapshot) || this.#idleLooks++ < MAX_IDLE_LOOKS)
      return this.#browser.lookForChange(2_000)
    await this.#explain.note('look_again', snapshot)
    if (!this.#hasStarted) {
      if (!this.#options.isAttended) throw notFound(snapshot)
      return this.#show(snapshot)
    }
    this.#requireAllowed(snapshot, 0)
    throw new LoginFailed('navigation_confused', 'Cannot confirm that the login succeeded')
  }

  /** Whether the website still works on what was submitted, or paints so much that the page does not answer. */
  #isAnswering({ is_loading: isLoading, is_quiet: isQuiet }: PageSnapshot): boolean {
    const since = performance.now() - (this.#sent?.at ?? -Infinity)
    return isLoading === true ? since < ANSWER_TIMEOUT_MS : !isQuiet && since < PAINTING_TIMEOUT_MS
  }

  async #goFurther(snapshot: PageSnapshot, { button, ticks }: Confirm): Promise<PageSnapshot | undefined> {
    if (!this.#hasStarted || this.#confirmations >= MAX_CONFIRMATIONS) return undefined
    this.#confirmations++
    await this.#explain.note('confirm', snapshot)
    this.#requireAllowed(snapshot, 0)
    this.#step()
    for (const { ref } of ticks) await this.#browser.act({ act: 'tick', refs: [ref] })
    const usable = await enabled(this.#browser, button)
    return usable && (await this.#browser.click(usable)) ? this.#lookAfterClick(snapshot) : undefined
  }

  async #atForm(snapshot: PageSnapshot, reading: Reading, form: ReadForm): Promise<PageSnapshot> {
    const key = keyOf(snapshot, form)
    const times = this.#timesSent.get(key) ?? 0
    // A website may show a captcha after a wrong password. The words about the password matter more.
    const isJudged = times > 0 && reading.complaints.some(({ isNew, kind }) => isNew && kind !== 'required')
    if (reading.hasCaptcha && !isJudged && !this.#canPassCaptcha) throw captchaBlocked()
    const became = this.#sent && times > 0 ? this.#sent.becameOf(snapshot, reading, form) : 'another'
    if (became === 'nothing yet')
      return reading.hasCaptcha && this.#canPassCaptcha
        ? this.#leaveCaptcha(snapshot, reading, form)
        : this.#awaitAnswer(snapshot, reading, form)
    if (became !== 'another' && this.#isWrongCaptcha(reading, became)) {
      if (!this.#canPassCaptcha) throw captchaBlocked()
      this.#sent = undefined
      return this.#fill(snapshot, reading, form)
    }
    if (became !== 'another') return this.#onRefusal(snapshot, reading, form, became)
    if (times >= MAX_SAME_FORMS)
      throw new LoginFailed(
        'stuck_in_loop',
        'Cannot complete the login: the website asks for the same values again and again',
      )
    if (form.kind === 'new password' && !this.#options.isAttended) {
      throw new LoginFailed(
        'customer_input_required',
        'Cannot log in: the website asks for a new password; change the password there, then log in again',
      )
    }
    const own = this.#ownChoice(reading, fittingChoice(snapshot, reading, this.#options.plan))
    const missing = form.fields.filter((field) => field.isRequired && !this.#has(field))
    if (own && (missing.length > 0 || own.kind === 'sso_provider')) return this.#click(snapshot, own)
    if (missing.length === 0 && (await this.#hasMailedCode(snapshot, reading, form)))
      return this.#fill(snapshot, reading, form)
    if (missing.length === 0) return this.#browser.lookNow()
    if (!this.#options.isAttended) {
      const isWithheld = missing.some((field) => this.#values.isWithheld(field))
      throw isWithheld ? withheld(snapshot.frames[form.frame]?.origin ?? snapshot.url) : lacking(missing)
    }
    const fields = form.fields.filter((field) => !this.#has(field))
    return this.#ask(snapshot, reading, { fields, choices: reading.choices })
  }

  /** False if the mailbox has none, and the person is asked then. */
  async #hasMailedCode(snapshot: PageSnapshot, reading: Reading, form: ReadForm): Promise<boolean> {
    if (!form.fields.some((field) => this.#mails.covers(field) && !this.#codes.covers(field))) return true
    await this.#explain.note('mail', snapshot, reading)
    return this.#mails.hasCode(form.fields)
  }

  /** The form was submitted and nothing happened yet. Secrets are not submitted twice to find out why. */
  async #awaitAnswer(snapshot: PageSnapshot, reading: Reading, form: ReadForm): Promise<PageSnapshot> {
    await this.#explain.note('await_answer', snapshot, reading)
    const last = form.fields.at(-1)?.elements.at(-1)
    const isSecret = form.fields.some((field) => field.kind === 'password' || isCode(field))
    // A complaint that was already there may be the response.
    const old = reading.complaints.find(({ kind }) => kind !== 'required')
    if (this.#idleLooks >= 2 && old) return this.#onRefusal(snapshot, reading, form, old)
    if (this.#isAnswering(snapshot)) return this.#browser.lookForChange(4_000)
    if (this.#idleLooks++ === 2 && last && !isSecret) {
      await this.#browser.act({ act: 'enter', refs: [last.ref] })
      return this.#browser.lookAfterAct()
    }
    if (this.#idleLooks > MAX_IDLE_LOOKS)
      throw new LoginFailed(
        'navigation_confused',
        'Cannot complete the login: the website did not respond to the submitted form',
      )
    return this.#browser.lookForChange(4_000)
  }

  /** The solver was wrong, and nobody has judged the password. */
  #isWrongCaptcha({ hasCaptcha }: Reading, { text }: Complaint): boolean {
    return hasCaptcha && this.#solver.hasAnswered && isAboutCaptcha(text)
  }

  get #canPassCaptcha(): boolean {
    return this.#options.isAttended || this.#solver.canTry
  }

  #has(field: ReadField): boolean {
    return (
      this.#values.for(field) !== undefined ||
      (isCode(field) && (this.#codes.covers(field) || this.#mails.covers(field)))
    )
  }

  async #onRefusal(
    snapshot: PageSnapshot,
    reading: Reading,
    form: ReadForm,
    complaint: Complaint,
  ): Promise<PageSnapshot> {
    await this.#explain.note('refused', snapshot, reading)
    this.#sent = undefined
    this.#refusals++
    const websiteError = complaint.text ? mask(complaint.text, this.#values.all) : undefined
    const codes = form.fields.filter((field) => isCode(field))
    const isAboutCode = codes.length > 0 && (complaint.about === 'code' || form.kind === 'code')
    if (isAboutCode && (this.#codes.renew(codes) || this.#mails.renew(codes))) {
      this.#timesSent.delete(keyOf(snapshot, form))
      return this.#browser.lookNow()
    }
    if (!this.#options.isAttended) {
      const isTotp = isAboutCode && this.#codes.wasUsed
      throw new LoginFailed(
        isTotp ? 'totp_code_rejected' : 'credentials_invalid',
        isAboutCode ? 'The website rejected the code' : 'The website rejected the submitted values',
        websiteError,
      )
    }
    if (this.#refusals > MAX_REFUSALS) {
      throw new LoginFailed(
        'max_attempts_reached',
        `The website rejected ${MAX_REFUSALS} attempts`,
        websiteError,
      )
    }
    const refused = form.fields.filter((field) => isAbout(field, complaint, form))
    this.#codes.stop()
    this.#mails.stop()
    this.#timesSent.clear()
    const fields = form.fields.filter((field) => refused.includes(field) || !this.#has(field))
    const isKept = (field: ReadField) =>
      form.fields.length > 1 && field.kind !== 'password' && !isCode(field) && complaint.about === 'any'
    return this.#ask(snapshot, reading, {
      fields,
      refused: new Set(refused.map(({ ref }) => ref)),
      optional: new Set(refused.filter((field) => isKept(field)).map(({ ref }) => ref)),
      choices: reading.choices,
      websiteError: complaint.text || undefined,
    })
  }

  /** The values are typed; the person solves the captcha and submits, or has the form submitted. */
  async #leaveCaptcha(
    snapshot: PageSnapshot,
    reading: Reading,
    form: ReadForm | undefined,
  ): Promise<PageSnapshot> {
    await this.#explain.note('captcha', snapshot, reading)
    this.#requirements.add('captcha')
    this.#idleLooks = 0
    if (await this.#solver.solve(snapshot, (did) => this.#explain.add(did))) {
      this.#step()
      if (form) await send(this.#browser, snapshot, form)
      return this.#browser.lookAfterAct()
    }
    if (!this.#options.isAttended) throw captchaBlocked()
    const next = await this.#handover.captcha(snapshot, reading, form)
    this.#stepsTaken = 0
    if (next !== 'submit') return next
    if (form) await send(this.#browser, snapshot, form)
    return this.#browser.lookAfterAct()
  }

  async #fill(snapshot: PageSnapshot, reading: Reading, form: ReadForm): Promise<PageSnapshot> {
    await this.#explain.note('fill', snapshot, reading)
    this.#step()
    this.#enter(snapshot, form)
    const filled: Filled[] = []
    for (const field of form.fields) {
      const hosts = this.#values.hostsOf(field)
      const value = isCode(field) ? this.#values.takeCode(field) : this.#values.for(field)
      if (value !== undefined) filled.push({ field, value, hosts })
      else if (isCode(field)) {
        const code = (await this.#codes.take(field)) ?? this.#mails.takeCode(field)
        if (code !== undefined) filled.push({ field, value: code, hosts: this.#values.knownHosts })
      }
    }
    for (const { value } of filled) this.#values.note(value)
    await this.#browser.hide(this.#values.all)
    const isLeft = reading.hasCaptcha
    const result = await fillAndSend(this.#browser, snapshot, form, filled, { isLeft })
    if (result === 'page changed') return this.#browser.lookAfterAct()
    for (const { field, value } of filled) {
      this.#values.noteTyped(field, value)
      this.#requirements.add(
        requirementOf(field, { wasTotp: this.#codes.wasUsed, wasMail: this.#mails.wasUsed }),
      )
    }
    this.#steps.push(stepOf(snapshot, form, this.#values.all))
    this.#sent = new Sent(snapshot, form)
    this.#timesSent.set(this.#sent.key, (this.#timesSent.get(this.#sent.key) ?? 0) + 1)
    this.#confirmations = 0
    if (isLeft) {
      const now = await this.#browser.lookNow()
      return this.#leaveCaptcha(now, readPage(now, { linesBefore: this.#sent.lines }), form)
    }
    this.#sent.noteGlimpse(await this.#browser.glimpse())
    return this.#lookAfterSubmit(this.#sent)
  }

  /** Early, if the page already shows what became of the form. */
  async #lookAfterSubmit(sent: Sent): Promise<PageSnapshot> {
    return this.#browser.lookUntil((snapshot) => {
      // They are told once.
      if (snapshot.dialogs.length > 0) return true
      if (snapshot.is_loading !== false || !snapshot.is_quiet) return this.#isPlanned(snapshot)
      const { form, signs, complaints } = readPage(snapshot, { linesBefore: sent.lines })
      if (form === undefined) return signs.isSignedIn || sent.isOtherDocument(snapshot)
      if (keyOf(snapshot, form) !== sent.key) return true
      return complaints.some(({ isNew, kind }) => isNew && kind !== 'required')
    })
  }

  /** Early, if a click has led to another page with something to do. */
  #lookAfterClick(from: PageSnapshot): Promise<PageSnapshot> {
    return this.#browser.lookUntil((snapshot) => {
      // They are told once.
      if (snapshot.dialogs.length > 0) return true
      if (snapshot.is_loading !== false || !snapshot.is_quiet) return this.#isPlanned(snapshot)
      const { form, signs } = readPage(snapshot)
      return snapshot.document !== from.document && (form !== undefined || signs.isSignedIn)
    })
  }

  async #choose(snapshot: PageSnapshot, reading: Reading): Promise<PageSnapshot> {
    const own = this.#ownChoice(reading, fittingChoice(snapshot, reading, this.#options.plan))
    if (own) return this.#click(snapshot, own)
    if (!this.#options.isAttended) throw undecided(reading.choices)
    return this.#ask(snapshot, reading, { choices: reading.choices })
  }

  #ownChoice(reading: Reading, planned: ReadChoice | undefined): ReadChoice | undefined {
    return ownChoice(reading, {
      known: this.#options.known,
      values: this.#values,
      clicked: this.#clicked,
      planned,
      hasSentPassword: this.#requirements.has('password'),
    })
  }

  async #click(snapshot: PageSnapshot, choice: ReadChoice): Promise<PageSnapshot> {
    await this.#explain.note('choose', snapshot)
    this.#step()
    const { element, option, kind, provider, label } = choice
    this.#clicked.add(`${placeOf(snapshot)} ${kind} ${provider ?? label} ${option ?? ''}`)
    if (kind === 'sso_provider') this.#ssoProvider = provider
    this.#steps.push(stepOfChoice(snapshot, choice, this.#values.all))
    this.#sent = undefined
    const { result } = await this.#browser.act(
      option === undefined
        ? { act: 'click', refs: [element.ref] }
        : { act: 'choose', refs: [element.ref], value: option },
    )
    if (result === 'refused') {
      const { dismiss } = readPage(snapshot)
      const isClear = dismiss !== undefined && (await this.#browser.click(dismiss))
      if (!isClear || !(await this.#browser.click(element))) {
        throw new LoginFailed('element_not_found', `Cannot click "${mask(label, this.#values.all)}"`)
      }
    }
    if (element.type === 'radio') await this.#sendChoice(element.ref)
    return this.#lookAfterClick(snapshot)
  }

  /** A radio button needs a separate submit button. */
  async #sendChoice(ref: string): Promise<void> {
    const snapshot = await this.#browser.lookNow()
    const radio = snapshot.elements.find((element) => element.ref === ref)
    if (!radio) return
    const elements = snapshot.elements.filter((element) => element.frame === radio.frame)
    const submit = submitOf({ elements }, radio.group, [radio])
    if (submit) await this.#browser.click(submit)
  }

  async #ask(snapshot: PageSnapshot, reading: Reading, toAsk: Partial<ToAsk>): Promise<PageSnapshot> {
    if (toAsk.refused === undefined)
      await this.#explain.note(toAsk.externalAction === undefined ? 'ask' : 'wait', snapshot, reading)
    const answer = await this.#conversation.ask(toAsk, { snapshot, reading })
    this.#idleLooks = 0
    if ('changed' in answer) return answer.changed
    this.#stepsTaken = 0
    if (answer.choice) {
      this.#requirements.add('choice')
      return this.#click(snapshot, answer.choice)
    }
    const now = await this.#browser.lookNow()
    const nowRead = readPage(now)
    const { form } = nowRead
    const isSame = form !== undefined && form.signature === reading.form?.signature
    if (form) this.#enter(now, form)
    return isSame && form.fields.every((field) => !field.isRequired || this.#has(field))
      ? this.#fill(now, nowRead, form)
      : now
  }

  async #wait(snapshot: PageSnapshot, reading: Reading, message: string): Promise<PageSnapshot> {
    const own = this.#ownChoice(reading, undefined)
    if (own) return this.#click(snapshot, own)
    const { form, choices } = reading
    const isReady = form?.fields.every((field) => this.#has(field)) === true
    if (form && isReady && !this.#timesSent.has(keyOf(snapshot, form)))
      return (await this.#hasMailedCode(snapshot, reading, form))
        ? this.#fill(snapshot, reading, form)
        : this.#browser.lookNow()
    const link = await this.#mailedLink(snapshot, reading, message)
    if (link) return link
    if (!this.#options.isAttended) {
      throw new LoginFailed(
        'external_action_required',
        'Cannot continue the login: the website waits for an action on another device',
        mask(message, this.#values.all),
      )
    }
    this.#requirements.add(isOfMail(message) && !form ? 'email_link' : 'external_action')
    const fields = form?.fields ?? []
    return this.#ask(snapshot, reading, {
      fields,
      optional: new Set(fields.map(({ ref }) => ref)),
      choices,
      externalAction: message,
    })
  }

  /**
   * Opened in another tab of this browser: some websites log in the browser that opens the link, and with others the page
   * that waits goes on.
   */
  async #mailedLink(
    snapshot: PageSnapshot,
    reading: Reading,
    message: string,
  ): Promise<PageSnapshot | undefined> {
    if (reading.form || !this.#mails.awaitsLink(snapshot, message)) return undefined
    await this.#explain.note('mail', snapshot, reading)
    const url = await this.#mails.link()
    if (url === undefined) return undefined
    this.#requirements.add('email_link')
    this.#step()
    this.#values.note(url)
    await this.#browser.hide(this.#values.all)
    this.#clicked.add(`${placeOf(snapshot)} mail link`)
    this.#sent = undefined
    const opened = await this.#browser.visitAside(url)
    const there = readPage(opened)
    // It asks for one more click, which is to be made here.
    if (there.form || there.confirm || there.choices.length > 0) return this.#browser.visit(url)
    const now = await this.#browser.lookForChange(LINK_TIMEOUT_MS)
    if (now.document !== snapshot.document || readPage(now).waiting === undefined) return now
    const isElsewhere = opened.failure === null && plain(opened.url) !== plain(url)
    return this.#browser.visit(isElsewhere ? opened.url : new URL('/', snapshot.url).href)
  }

  async #confirmed(snapshot: PageSnapshot, reading: Reading): Promise<LoginOutcome | undefined> {
    if (!isOf(snapshot.url, this.#own) || snapshot.is_popup) return undefined
    if (!this.#hasStarted && !reading.signs.isSignedIn) return undefined
    await this.#explain.note('check_success', snapshot, reading)
    const checks = await this.#confirmation.confirm(snapshot, this.#loginUrl)
    return (
      checks &&
      this.#success(snapshot.url, checks, {
        loginUrl: this.#loginUrl,
        plan: { version: 1, steps: this.#steps },
      })
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
      requirements: [...this.#requirements, ...(this.#passkeys.hasAnswered ? (['passkey'] as const) : [])],
      values: this.#values.typed,
      typedAt: this.#values.typedAt,
      ssoProvider: this.#ssoProvider,
    }
  }
}

function isFound(snapshot: PageSnapshot): boolean {
  return isLogin(snapshot) || snapshot.failure !== null || readPage(snapshot).obstacle !== undefined
}

function captchaBlocked(): LoginFailed {
  return new LoginFailed(
    'captcha_blocked',
    'The website asks to solve a captcha beside the login, which needs a person or a captcha_solver',
  )
}

/** A page that mentions passkeys may also offer another method. */
function isAvoidable({ obstacle, waiting, choices, confirm }: Reading): boolean {
  return (
    obstacle?.code === 'unsupported_auth_method' &&
    (waiting !== undefined || choices.length > 0 || confirm !== undefined)
  )
}

function isAbout(field: ReadField, { about }: Complaint, form: ReadForm): boolean {
  if (form.fields.length === 1 || about === 'any') return true
  if (about === 'code') return isCode(field)
  return field.kind === about
}
