// The lease of the agent, renewed over the connection that holds its Pod: an idle session needs no other one.
import type { Renewed, ToPod } from '../pod/protocol.ts'

export class PodRenewals {
  readonly #asked = new Map<number, (answer: Renewed) => void>()
  #last = 0

  /** Resolves with the answer of the agent. */
  ask(say: (message: ToPod) => void, seconds: number, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const renew = ++this.#last
    return new Promise((resolve, reject) => {
      const finish = () => {
        this.#asked.delete(renew)
        signal.removeEventListener('abort', onAbort)
      }
      const onAbort = () => {
        finish()
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#asked.set(renew, ({ answer, error }) => {
        finish()
        if (error === '') resolve(answer)
        else reject(new Error(`Cannot renew the lease: ${error}`))
      })
      say({ renew, seconds })
    })
  }

  hear(answer: Renewed): void {
    this.#asked.get(answer.renewed)?.(answer)
  }
}
