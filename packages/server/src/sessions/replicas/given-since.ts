import type { ServerWithRoom } from '../browsers/store.ts'

/** How many sessions this server has given to others since they last said how much room they have. */
export class GivenSince {
  readonly #given = new Map<string, { readonly saidAt: string; readonly count: number }>()

  add(server: Pick<ServerWithRoom, 'id' | 'seen_at'>): void {
    this.#given.set(server.id, { saidAt: server.seen_at, count: this.countOf(server) + 1 })
  }

  countOf({ id, seen_at: saidAt }: Pick<ServerWithRoom, 'id' | 'seen_at'>): number {
    const given = this.#given.get(id)
    return given?.saidAt === saidAt ? given.count : 0
  }
}
