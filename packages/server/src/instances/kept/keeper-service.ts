// The keeper's side of the channel: does what the server asks, and nothing else. Whatever it uses of the machine was
// fixed by root before the server started.
import type { SendHandle } from 'node:child_process'
import type { Log } from '../driver/log.ts'
import { NoCapacity, NoGpu, type InstanceEnd } from '../driver/driver.ts'
import type { Egress } from '../local/egress.ts'
import type { LocalDriver } from '../local/local-driver.ts'
import type { LocalInstance } from '../local/local-instance.ts'
import { HandedEgress } from './handed-egress.ts'
import {
  checkRequest,
  numberOf,
  type Adopted,
  type AskFor,
  type Failure,
  type FromKeeper,
  type MaxLimits,
  type Opened,
  type PagedOut,
  type Request,
  type SentMemory,
} from './messages.ts'
import { SentLog } from './sent-log.ts'

/** More than any server needs: each request belongs to one call for one of its instances. */
const MAX_REQUESTS = 16_384
const MAX_MESSAGES_IN_FAILURE = 5
const MAX_MESSAGE_LENGTH = 8_192

/** Resolves when the message is on its way; a handle may be closed then. */
export type Send = (message: FromKeeper, handle?: SendHandle) => Promise<void>

export interface KeeperServiceOptions {
  readonly send: Send
  readonly openDriver: (parts: { egress: Egress; log: Log }) => Promise<LocalDriver>
  readonly leaseSeconds: number
  readonly max: MaxLimits
  readonly goAhead: () => void
  /** The server does not keep to the protocol. */
  readonly onAbuse: (reason: string) => void
}

interface Answer {
  readonly value?: unknown
  readonly handle?: SendHandle
}

export class KeeperService {
  readonly #options: KeeperServiceOptions
  readonly #instances = new Map<string, LocalInstance>()
  readonly #starts = new Map<number, AbortController>()
  #driver: Promise<LocalDriver> | undefined
  #requests = 0

  constructor(options: KeeperServiceOptions) {
    this.#options = options
  }

  /** Never rejects. */
  async receive(message: unknown): Promise<void> {
    const { send, max, onAbuse } = this.#options
    const n = numberOf(message)
    if (n === undefined) return onAbuse('it sent a message without a number')
    if (++this.#requests > MAX_REQUESTS) return onAbuse(`it sent more than ${MAX_REQUESTS} requests at once`)
    try {
      const { value, handle } = await this.#act(checkRequest(message, max))
      await send({ n, value: value ?? null }, handle)
    } catch (error) {
      await send({ n, failure: { messages: messagesOf(error), ...kindOf(error) } })
    } finally {
      this.#requests--
    }
  }

  async #act(request: Request): Promise<Answer> {
    switch (request.ask) {
      case 'open':
        return { value: await this.#open() }
      case 'start':
        await this.#start(request)
        return {}
      case 'cancel':
        this.#starts.get(request.of)?.abort(new Error('the server gave it up'))
        return {}
      case 'adopt': {
        const adopted = await (await this.#opened()).adopt()
        for (const instance of adopted) this.#own(instance)
        return {
          value: adopted.map(({ id, isPagedOut }): Adopted => ({ id, isPagedOut })),
        }
      }
      case 'connect': {
        const handle = this.#instances.get(request.id)?.connectDirectly()
        return handle ? { value: true, handle } : { value: false }
      }
      case 'freeze':
        await this.#instance(request.id).freeze()
        return {}
      case 'thaw':
        await this.#instance(request.id).thaw()
        return {}
      case 'pageOut': {
        const instance = this.#instance(request.id)
        const use = await instance.pageOut()
        return { value: { use, isPagedOut: instance.isPagedOut } satisfies PagedOut }
      }
      case 'readMemory': {
        const { uses, ...memory } = await (await this.#opened()).readMemory()
        return { value: { ...memory, uses: [...uses] } satisfies SentMemory }
      }
      // An instance that has ended needs none of these.
      case 'setLimits':
        await this.#instances.get(request.id)?.setLimits(request.limits)
        return {}
      case 'setBackground':
        await this.#instances.get(request.id)?.setBackground(request.isBackground)
        return {}
      case 'endureOom':
        this.#instances.get(request.id)?.endureOom()
        return {}
      case 'destroy':
        await this.#instances.get(request.id)?.destroy()
        return {}
      case 'goAhead':
        this.#options.goAhead()
        return {}
      case 'close':
        await (await this.#driver)?.close()
        return {}
    }
  }

  async #open(): Promise<Opened> {
    const { openDriver, send } = this.#options
    if (this.#driver) throw new Error('Refused: the driver is open already')
    const log = new SentLog((line) => void send(line))
    const egress = new HandedEgress((event, id, handle) => send({ event, id }, handle))
    this.#driver = openDriver({ egress, log })
    const { capabilities, shortcomings, instancesDir } = await this.#driver
    return { ...capabilities, locales: [...capabilities.locales], shortcomings, instancesDir }
  }

  async #opened(): Promise<LocalDriver> {
    if (!this.#driver) throw new Error('Refused: the driver is not open')
    return this.#driver
  }

  async #start({ n, id, limits, agent, isBackground, gpu }: AskFor<'start'> & { n: number }): Promise<void> {
    const driver = await this.#opened()
    const giveUp = new AbortController()
    this.#starts.set(n, giveUp)
    try {
      const { leaseSeconds } = this.#options
      const options = { id, limits, agent: { ...agent, leaseSeconds }, isBackground, gpu }
      this.#own(await driver.start(options, giveUp.signal))
    } finally {
      this.#starts.delete(n)
    }
  }

  #own(instance: LocalInstance): void {
    const { id } = instance
    this.#instances.set(id, instance)
    const ended = (end: InstanceEnd) => {
      this.#instances.delete(id)
      const { lastOomKill: oomKill } = instance
      return this.#options.send({ event: 'ended', id, end, ...(oomKill && { oomKill }) })
    }
    void instance.ended.then(ended)
  }

  #instance(id: string): LocalInstance {
    const instance = this.#instances.get(id)
    if (!instance) throw new Error(`Cannot freeze or thaw instance "${id}": it has ended`)
    return instance
  }
}

function kindOf(error: unknown): Pick<Failure, 'kind'> {
  if (error instanceof NoGpu) return { kind: 'no-gpu' }
  return error instanceof NoCapacity ? { kind: 'no-capacity' } : {}
}

/** Without the stacks: they name files of the host, and say no more to the server. */
function messagesOf(error: unknown): string[] {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    messages.push(cause.message.slice(0, MAX_MESSAGE_LENGTH))
    if (messages.length === MAX_MESSAGES_IN_FAILURE) break
  }
  return messages
}
