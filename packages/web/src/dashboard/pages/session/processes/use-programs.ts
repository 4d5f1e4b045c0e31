// Programs that were started here, with their output. They go on when the tab is left; the output is read again then.
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Kernel } from '@onkernel/sdk'

const MAX_PROGRAMS = 30
/** Of the output of one program; the beginning is left out. */
const MAX_OUTPUT = 500_000
const TELL_MS = 100

export interface Program {
  readonly id: string
  readonly pid: number
  readonly command: string
  readonly startedAt: string
  readonly output: string
  readonly exitCode: number | undefined
  readonly error: unknown
}

/** Those of each session, until the page is loaded again. */
const started = new Map<string, Programs>()
const MAX_SESSIONS = 20

export class Programs {
  readonly #client: Kernel
  readonly #sessionId: string
  readonly #listeners = new Set<() => void>()
  #list: readonly Program[] = []
  #over = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #shown: readonly Program[] = []

  constructor(client: Kernel, sessionId: string) {
    this.#client = client
    this.#sessionId = sessionId
  }

  get list(): readonly Program[] {
    return this.#shown
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async start(command: string): Promise<Program> {
    const answer = await this.#client.browsers.process.spawn(this.#sessionId, {
      command: 'bash',
      args: ['-c', command],
    })
    const program: Program = {
      id: answer.process_id!,
      pid: answer.pid ?? 0,
      command,
      startedAt: answer.started_at ?? new Date().toISOString(),
      output: '',
      exitCode: undefined,
      error: undefined,
    }
    this.#list = [program, ...this.#list].slice(0, MAX_PROGRAMS)
    this.#tell()
    void this.#follow(program.id)
    return program
  }

  /** Follows what still runs. */
  resume(): void {
    this.#over = new AbortController()
    for (const { id, exitCode } of this.#list) if (exitCode === undefined) void this.#follow(id)
  }

  pause(): void {
    this.#over.abort()
  }

  forget(id: string): void {
    this.#list = this.#list.filter((each) => each.id !== id)
    this.#tell()
  }

  async #follow(id: string): Promise<void> {
    const { signal } = this.#over
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
    // The stream begins with everything that was stored.
    let output = ''
    this.#change(id, { error: undefined })
    try {
      const stream = await this.#client.browsers.process.stdoutStream(id, { id: this.#sessionId }, { signal })
      for await (const { stream: name = 'stdout', data_b64: data, event, exit_code: exitCode } of stream) {
        if (data !== undefined) {
          const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
          output = (output + decoders[name].decode(bytes, { stream: true })).slice(-MAX_OUTPUT)
        }
        this.#change(id, { output, ...(event === 'exit' && { exitCode: exitCode ?? 0 }) })
      }
    } catch (error) {
      if (!signal.aborted) this.#change(id, { error })
    }
  }

  #change(id: string, part: Partial<Program>): void {
    this.#list = this.#list.map((each) => (each.id === id ? { ...each, ...part } : each))
    this.#timer ??= setTimeout(() => this.#tell(), TELL_MS)
  }

  #tell(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#shown = this.#list
    for (const listener of this.#listeners) listener()
  }
}

export function usePrograms(client: Kernel, sessionId: string): readonly [Programs, readonly Program[]] {
  const [programs] = useState(() => {
    const known = started.get(sessionId) ?? new Programs(client, sessionId)
    started.set(sessionId, known)
    if (started.size > MAX_SESSIONS) started.delete(started.keys().next().value!)
    return known
  })
  useEffect(() => {
    programs.resume()
    return () => programs.pause()
  }, [programs])
  return [programs, useSyncExternalStore(programs.subscribe, () => programs.list)]
}
