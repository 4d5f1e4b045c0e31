// The executors of a session, by name. Each has a process of its own, so one that hangs delays no other.
import {
  DEFAULT_EXECUTOR,
  MAX_NAMED_EXECUTORS,
  type PlaywrightExecutor,
} from '@berth/contracts/playwright-executor'
import { ControlError } from '../calls/operation.ts'
import { Executor, type Executed, type Execution, type ExecutorParts } from './executor.ts'

const MAX_URL_LENGTH = 8_192
/** In a refusal, which is small. */
const MAX_REFUSED_URL_LENGTH = 500

export class Executors {
  readonly #parts: ExecutorParts
  readonly #executors = new Map<string, Executor>()

  constructor(parts: ExecutorParts) {
    this.#parts = parts
  }

  async execute(name: string, execution: Execution): Promise<Executed> {
    const executor = this.#executors.get(name) ?? (await this.#make(name))
    try {
      return await executor.execute(execution)
    } finally {
      // It takes no place if it could not be made.
      if (executor.isUnused && this.#executors.get(name) === executor) {
        this.#executors.delete(name)
        executor.end()
      }
    }
  }

  async list(maxUrlLength = MAX_URL_LENGTH): Promise<PlaywrightExecutor[]> {
    const all = this.#inOrder()
    const urls = all.length === 0 ? undefined : await this.#parts.tabs.urls().catch(() => undefined)
    return all.map(({ name, isBusy, createdAt, lastUsedAt, targetId }) => {
      const url = targetId === undefined ? undefined : urls?.get(targetId)
      return {
        name,
        busy: isBusy,
        created_at: createdAt.toISOString(),
        last_used_at: lastUsedAt.toISOString(),
        // Its tab may have been closed.
        ...(url !== undefined && { target_id: targetId!, url: url.slice(0, maxUrlLength) }),
      }
    })
  }

  /** The default one first, then by name: the order of first use is chance when calls come at once. */
  #inOrder(): Executor[] {
    return [...this.#executors.values()].toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
  }

  async delete(name: string, { closesTab }: { closesTab: boolean }): Promise<void> {
    const executor = this.#executors.get(name)
    if (!executor) {
      const names = this.#inOrder()
        .map((each) => `"${each.name}"`)
        .join(', ')
      const has = names === '' ? 'the session has none' : `the session has ${names}`
      throw new ControlError('not_found', `Cannot delete the executor "${name}": ${has}`)
    }
    this.#executors.delete(name)
    executor.end()
    const { targetId } = executor
    if (targetId === undefined) return
    this.#onTab()
    if (!closesTab) return
    await this.#parts.tabs.close(targetId).catch((error: unknown) => {
      const { message } = error as Error
      const why = `The executor "${name}" is deleted, but its tab could not be closed: ${message}`
      throw new ControlError('unavailable', why, { cause: error })
    })
  }

  /** Tabs that executors have opened for themselves. */
  get ownTabs(): readonly string[] {
    return this.#tabsOf(({ name }) => name !== DEFAULT_EXECUTOR)
  }

  kill(): void {
    for (const executor of this.#executors.values()) executor.end()
  }

  async #make(name: string): Promise<Executor> {
    const hasOwnTab = name !== DEFAULT_EXECUTOR
    const named = [...this.#executors.keys()].filter((each) => each !== DEFAULT_EXECUTOR)
    if (hasOwnTab && named.length >= MAX_NAMED_EXECUTORS) {
      throw new ControlError(
        'conflict',
        `Cannot make the executor "${name}": the session has ${MAX_NAMED_EXECUTORS} already; delete one, or use it`,
        { fields: { executors: await this.list(MAX_REFUSED_URL_LENGTH) } },
      )
    }
    const executor = new Executor({
      ...this.#parts,
      name,
      hasOwnTab,
      others: () =>
        // The default executor uses any tab that is nobody's own.
        hasOwnTab ? this.#tabsOf((each) => each !== executor) : this.ownTabs,
      onTab: () => this.#onTab(),
    })
    this.#executors.set(name, executor)
    return executor
  }

  #tabsOf(isWanted: (executor: Executor) => boolean): string[] {
    return [...this.#executors.values()].filter(isWanted).flatMap(({ targetId }) => targetId ?? [])
  }

  #onTab(): void {
    for (const executor of this.#executors.values()) executor.tellOthers()
  }
}

const rank = ({ name }: Executor) => (name === DEFAULT_EXECUTOR ? '' : name)
