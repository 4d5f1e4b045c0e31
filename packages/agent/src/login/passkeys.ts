// Keys that answer for the user. Chromium's virtual authenticator holds them, one for each page, and says yes by itself.
// Chromium lets a page use a key only if the page belongs to the key's relying party; here the page must also be on one
// of the hosts where the credential may be typed. So a page gets its keys before its document is asked for, and loses
// them before the next document is.
import { MAX_PASSKEYS, type Passkey, type PasskeysOrder } from '@berth/contracts/page-snapshot'
import type { CdpConnection } from '../cdp/cdp-connection.ts'
import { isOfHosts } from './hosts.ts'

const CALL_MS = 3_000

const AUTHENTICATOR = {
  protocol: 'ctap2',
  ctap2Version: 'ctap2_1',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
  // The key is stored outside of the browser, and says so.
  defaultBackupEligibility: true,
  defaultBackupState: true,
}

/** As the protocol has it. */
export interface Credential {
  readonly credentialId: string
  readonly rpId?: string
  readonly privateKey: string
  readonly userHandle?: string
  readonly userName?: string
  readonly userDisplayName?: string
  readonly signCount: number
}

/** The keys of a login, for all of its pages. */
export class Passkeys {
  readonly #keys = new Map<string, Passkey>()
  #hosts: readonly string[] = []
  #mayCreate = false

  order({ keys, hosts, may_create: mayCreate }: PasskeysOrder): void {
    this.#hosts = hosts
    this.#mayCreate = mayCreate
    // After a restart of the server the browser knows better how often a key was used.
    for (const key of keys) if (!this.#keys.has(key.credential_id)) this.#keys.set(key.credential_id, key)
  }

  get all(): readonly Passkey[] {
    return [...this.#keys.values()]
  }

  get mayCreate(): boolean {
    return this.#mayCreate
  }

  get isInUse(): boolean {
    return this.#keys.size > 0 || this.#mayCreate
  }

  /** Undefined for a page that gets no authenticator. */
  for(url: string): readonly Passkey[] | undefined {
    if (!isOfHosts(url, this.#hosts)) return undefined
    const { hostname = '' } = URL.parse(url) ?? {}
    const keys = this.all.filter(({ rp_id: rp }) => hostname === rp || hostname.endsWith(`.${rp}`))
    return keys.length > 0 || this.#mayCreate ? keys : undefined
  }

  /** A page has made a key, or used one. */
  note({ credentialId, rpId, privateKey, signCount, ...user }: Credential): void {
    const before = this.#keys.get(credentialId)
    if (!before && this.#keys.size >= 2 * MAX_PASSKEYS) return
    this.#keys.set(credentialId, {
      credential_id: credentialId,
      rp_id: before?.rp_id ?? rpId ?? '',
      private_key: before?.private_key ?? privateKey,
      user_handle: before?.user_handle ?? user.userHandle ?? '',
      user_name: before?.user_name ?? (user.userName ?? '').slice(0, 1_000),
      user_display_name: before?.user_display_name ?? (user.userDisplayName ?? '').slice(0, 1_000),
      sign_count: Math.max(before?.sign_count ?? 0, signCount),
    })
  }
}

/** The authenticator of one page. */
export class PagePasskeys {
  readonly #cdp: CdpConnection
  readonly #sessionId: string
  readonly #shared: Passkeys
  #authenticatorId: string | undefined
  readonly #held = new Set<string>()
  /** One change after another. */
  #work: Promise<void> = Promise.resolve()

  constructor(cdp: CdpConnection, sessionId: string, shared: Passkeys) {
    this.#cdp = cdp
    this.#sessionId = sessionId
    this.#shared = shared
  }

  /** Undefined if there is nothing to do. Never rejects. */
  prepareFor(url: string): Promise<void> | undefined {
    if (!this.#shared.isInUse && this.#authenticatorId === undefined) return undefined
    this.#work = this.#work.then(() => this.#prepare(url)).catch(() => this.#remove())
    return this.#work
  }

  /** The page has used a key. */
  used(credential: Credential): void {
    this.#shared.note(credential)
  }

  /** The page has made a key. If that was not allowed, nobody keeps it. */
  made(credential: Credential): void {
    const { credentialId } = credential
    if (this.#shared.mayCreate) {
      this.#held.add(credentialId)
      this.#shared.note(credential)
      return
    }
    const authenticatorId = this.#authenticatorId
    if (authenticatorId === undefined || this.#held.has(credentialId)) return
    this.#cdp.dispatch('WebAuthn.removeCredential', { authenticatorId, credentialId }, this.#sessionId)
  }

  async #prepare(url: string): Promise<void> {
    const keys = this.#shared.for(url)
    if (!keys) return this.#remove()
    const authenticatorId = (this.#authenticatorId ??= await this.#add())
    const wanted = new Set(keys.map((key) => key.credential_id))
    for (const credentialId of this.#held) {
      if (wanted.has(credentialId)) continue
      await this.#call('WebAuthn.removeCredential', { authenticatorId, credentialId })
      this.#held.delete(credentialId)
    }
    for (const key of keys) {
      if (this.#held.has(key.credential_id)) continue
      this.#held.add(key.credential_id)
      // A key that Chromium does not take must not keep the others out.
      await this.#call('WebAuthn.addCredential', { authenticatorId, credential: toCredential(key) }).catch(
        () => {},
      )
    }
  }

  async #add(): Promise<string> {
    await this.#call('WebAuthn.enable', { enableUI: false })
    const { authenticatorId } = await this.#call<{ authenticatorId: string }>(
      'WebAuthn.addVirtualAuthenticator',
      { options: AUTHENTICATOR },
    )
    return authenticatorId
  }

  async #remove(): Promise<void> {
    const authenticatorId = this.#authenticatorId
    if (authenticatorId === undefined) return
    this.#authenticatorId = undefined
    this.#held.clear()
    // Without it, pages ask Chromium itself again.
    await this.#call('WebAuthn.removeVirtualAuthenticator', { authenticatorId }).catch(() => {})
    await this.#call('WebAuthn.disable').catch(() => {})
  }

  #call<T>(method: string, params: object = {}): Promise<T> {
    return this.#cdp.call<T>(method, params, this.#sessionId, CALL_MS)
  }
}

function toCredential(key: Passkey): object {
  return {
    credentialId: key.credential_id,
    isResidentCredential: true,
    rpId: key.rp_id,
    privateKey: key.private_key,
    userHandle: key.user_handle,
    signCount: key.sign_count,
    backupEligibility: true,
    backupState: true,
    ...(key.user_name !== '' && { userName: key.user_name }),
    ...(key.user_display_name !== '' && { userDisplayName: key.user_display_name }),
  }
}
