// One instance on this host, started by this server or taken over from an earlier one.
import type { ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { agentExitCodes, instancePorts, NETWORK_DESCRIPTOR, type LinkPurpose } from '@berth/contracts/link'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { SerialQueue } from '@berth/kit/serial-queue'
import type { EgressRoute } from '../egress/route.ts'
import type { Account } from '../../platform/account.ts'
import type { Instance, InstanceEnd, InstanceLimits, MemoryUse, OomKill } from '../driver/driver.ts'
import type { Log } from '../driver/log.ts'
import type { Openings } from '../egress/openings.ts'
import type { Cgroup } from './cgroup.ts'
import type { Egress, EgressListener } from './egress.ts'
import type { InstanceDirectory } from './instance-directory.ts'
import { handOverArrivals, makeNetwork } from './instance-network.ts'
import { Link } from './link.ts'
import { LinkSocket } from './link-socket.ts'
import type { NamespaceSockets } from './namespace-sockets.ts'
import type { NetworkMaker } from './network-maker.ts'
import { readOomKill } from './oom-report.ts'
import type { RuleFiles } from './shared-files.ts'
import { makeFifos, StderrFifo } from './stderr-fifo.ts'
import type { ReadAhead, WorkingSet } from './swap/read-ahead.ts'

/** What comes back to memory in this time after a wake is what somebody waits for. */
const FIRST_MOMENT_MS = 1_500
/** Less is what the kernel moved by itself, before the group was told not to. */
const MIN_PAGED_OUT_BYTES = 16 * 2 ** 20

export interface LocalInstanceOptions {
  readonly id: string
  readonly uid: number | undefined
  readonly directory: InstanceDirectory
  readonly cgroup: Cgroup
  readonly egress: Egress
  /** Undefined when the server may not create sockets for instances. */
  readonly sockets: NamespaceSockets | undefined
  /** Who dials the agent, if that is another account than ours. */
  readonly server: Account | undefined
  /** Moves the memory of the group to swap until the signal fires. Rejects where nothing may be moved. */
  readonly pageOut: (cgroup: Cgroup, signal: AbortSignal) => Promise<void>
  /** Undefined where the kernel cannot read ahead. */
  readonly readAhead: () => Promise<ReadAhead | undefined>
  readonly log: Log
  /** Called once, when nothing is left of the instance. */
  readonly onGone: () => void
}

interface InstanceStart {
  readonly mkfifo: string
  /** Undefined when it has only the proxy. */
  readonly network: { readonly maker: NetworkMaker; readonly rules: RuleFiles } | undefined
  readonly spawn: (stderr: number, link: number) => ChildProcess
}

export class LocalInstance implements Instance {
  readonly id: string
  readonly ended: Promise<InstanceEnd>
  readonly #options: LocalInstanceOptions
  readonly #log: Log
  readonly #ending = new AbortController()
  #link: Link | undefined
  #egress: EgressListener | undefined
  #stderr: StderrFifo | undefined
  #child: ChildProcess | undefined
  /** A descriptor of the network namespace, opened on first use. */
  #namespace: number | undefined
  #end: Promise<void> | undefined
  readonly #freezing = new SerialQueue()
  #isFrozen = false
  #isPagedOut = false
  /** Since when it has memory in swap: perhaps still, also when it runs. */
  #hasSwapped = false
  /** What it needed first when it woke last. */
  #workingSet: WorkingSet | undefined
  #noticing: NodeJS.Timeout | undefined
  #pagingOut: { readonly over: Promise<void>; readonly stop: AbortController } | undefined
  #isReleased = false
  #isTakenOver = false
  #enduresOom = false
  #lastOomKill: OomKill | undefined
  readonly #resolveEnded: (end: InstanceEnd) => void

  constructor(options: LocalInstanceOptions) {
    this.id = options.id
    this.#options = options
    this.#log = options.log.child({ instance: options.id })
    const { promise, resolve } = Promise.withResolvers<InstanceEnd>()
    this.ended = promise
    this.#resolveEnded = resolve
  }

  get lastOomKill(): OomKill | undefined {
    return this.#lastOomKill
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  get isPagedOut(): boolean {
    return this.#isPagedOut
  }

  get memoryUse(): MemoryUse | undefined {
    return this.#end ? undefined : this.#options.cgroup.memoryUse()
  }

  get traffic(): { readonly sent: number; readonly received: number } {
    return this.#egress?.traffic ?? { sent: 0, received: 0 }
  }

  get lastRefusal(): string | undefined {
    return this.#egress?.lastRefusal
  }

  /** Called before the instance starts, or again for a running one that an earlier server left. */
  async listen({ route }: { route: EgressRoute }): Promise<void> {
    const { directory, uid, egress } = this.#options
    this.#link = new Link({ id: this.id, path: directory.linkPath })
    this.#egress = await egress.listen(directory.socketPath('egress.sock'), route, this.id)
    directory.admit('egress.sock', uid)
  }

  /** Starts the instance with `spawn`; the exit of that process ends the instance. */
  async start({ mkfifo, network, spawn }: InstanceStart): Promise<void> {
    const { directory, server } = this.#options
    const [link] = await Promise.all([
      LinkSocket.listen({ path: directory.linkPath, unfinished: directory.unfinishedLinkPath }),
      makeFifos({ mkfifo, paths: directory.fifos }),
    ])
    if (server) directory.giveLink(server)
    const stderr = StderrFifo.open(directory.stderr)
    this.#stderr = stderr
    const child = link.handOver((descriptor) => stderr.lend((errors) => spawn(errors, descriptor)))
    this.#child = child
    const onEnd = () => {
      const isLapsed = child.exitCode === agentExitCodes.leaseLapsed
      if (!this.#isReleased) void this.#finish(isLapsed ? 'lease-lapsed' : 'ended-by-itself')
    }
    child.once('exit', onEnd)
    // The process could not be started at all.
    child.once('error', onEnd)
    if (network) this.#giveNetwork(child, network)
  }

  /** When its agent runs. Without one, the agent ends, and the instance with it. */
  #giveNetwork(child: ChildProcess, network: NonNullable<InstanceStart['network']>): void {
    const { sockets, cgroup } = this.#options
    // SAFETY: it was asked for, and a pipe is a socket. It is missing when the child could not be started.
    const agent = (child.stdio as readonly unknown[])[NETWORK_DESCRIPTOR] as Socket | null | undefined
    if (!agent) return
    agent.unref()
    agent.on('error', () => {})
    agent.once('data', () => {
      const options = {
        ...network,
        sockets: sockets!,
        egress: this.#egress!,
        processes: () => cgroup.processes(),
      }
      makeNetwork(agent, options).catch((error: unknown) => {
        agent.destroy()
        if (!this.#end) this.#log.error({ err: error }, 'cannot make the network of an instance')
      })
    })
  }

  /** Continues an instance that an earlier server started. */
  async takeOver({ hasNetwork }: { hasNetwork: boolean }): Promise<void> {
    const { directory, server } = this.#options
    if (!directory.hasLink) throw new Error('an earlier version of Berth made it')
    if (server) directory.giveLink(server)
    // Nothing may leave the instance until its route is known.
    await this.listen({ route: { kind: 'closed' } })
    this.#stderr = StderrFifo.open(directory.stderr)
    if (hasNetwork) await this.#takeOverNetwork()
    // An earlier keeper may have been killed while it moved its memory.
    this.#options.cgroup.setSwapping(false)
    if (!this.#staysAsleep()) await this.thaw()
    this.#isTakenOver = true
  }

  /** Its memory is in swap. All of those at once would need it back when a server starts. */
  #staysAsleep(): boolean {
    const { cgroup } = this.#options
    const { swappedBytes = 0 } = cgroup.memoryUse() ?? {}
    if (!cgroup.isFrozen() || swappedBytes < MIN_PAGED_OUT_BYTES) return false
    this.#isFrozen = true
    this.#isPagedOut = true
    this.#hasSwapped = true
    return true
  }

  async #takeOverNetwork(): Promise<void> {
    const { sockets, cgroup } = this.#options
    this.#namespace ??= sockets?.find(() => cgroup.processes())
    if (!sockets || this.#namespace === undefined) throw new Error('its network cannot be found')
    await handOverArrivals({ sockets, egress: this.#egress!, network: this.#namespace })
  }

  /** Called regularly, to find an end or a reason to end that no event reports. */
  look(): void {
    if (this.#end || this.#isReleased) return
    // A frozen instance cannot change.
    if (this.#isFrozen && !this.#isTakenOver) return
    const { cgroup } = this.#options
    this.#stderr?.drain()
    // The kernel may have killed any process, so the rest may be broken.
    if (!this.#isFrozen && !this.#enduresOom && cgroup.oomKills() > 0) void this.#finish('out-of-memory')
    else if (this.#hasSwapped && !this.#isFrozen && cgroup.isOverLimit()) void this.#finish('out-of-memory')
    else if (this.#isTakenOver && cgroup.isEmpty()) void this.#finish('ended-by-itself')
  }

  async connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex> {
    if (!this.#link) throw new Error(`Cannot connect to instance "${this.id}": it is not started`)
    if (purpose === 'cdp') {
      const direct = this.connectDirectly()
      if (direct) return direct
    }
    return this.#link.connect(purpose, signal)
  }

  /** A socket to Chromium that no process inside relays. Undefined where that is not possible, or not yet. */
  connectDirectly(): Socket | undefined {
    const { sockets, cgroup } = this.#options
    if (!sockets || this.#end) return undefined
    this.#namespace ??= sockets.find(() => cgroup.processes())
    return this.#namespace === undefined
      ? undefined
      : sockets.connect(this.#namespace, instancePorts.devtools)
  }

  freeze(): Promise<void> {
    return this.#oneByOne(async () => {
      if (this.#isFrozen) return
      await this.#options.cgroup.freeze(this.#ending.signal)
      this.#isFrozen = true
    })
  }

  async thaw(): Promise<void> {
    // Whoever waits for the instance does not wait for what is left to be moved.
    await this.#stopPageOut()
    return this.#oneByOne(async () => {
      if (this.#isPagedOut) void this.#readAhead()
      this.#options.cgroup.thaw()
      this.#isFrozen = false
      this.#isPagedOut = false
    })
  }

  pageOut(): Promise<MemoryUse> {
    return this.#oneByOne(async () => {
      const { cgroup } = this.#options
      if (!this.#isFrozen)
        throw new Error(`Cannot move the memory of instance "${this.id}": it is not frozen`)
      const stop = new AbortController()
      const over = this.#pageOut(AbortSignal.any([stop.signal, this.#ending.signal]))
      this.#pagingOut = { over, stop }
      try {
        await over
      } finally {
        this.#pagingOut = undefined
      }
      return cgroup.memoryUse() ?? { residentBytes: 0, swappedBytes: 0 }
    })
  }

  async #pageOut(signal: AbortSignal): Promise<void> {
    const { cgroup, pageOut } = this.#options
    this.#hasSwapped = true
    cgroup.setSwapping(true)
    try {
      await pageOut(cgroup, signal)
      const { swappedBytes = 0 } = cgroup.memoryUse() ?? {}
      this.#isPagedOut = !signal.aborted && swappedBytes >= MIN_PAGED_OUT_BYTES
    } finally {
      // Awake, it may not fill what others sleep in.
      if (!this.#end) cgroup.setSwapping(false)
    }
  }

  /** Beside the processes, which need not wait for all of it. */
  async #readAhead(): Promise<void> {
    const { cgroup, readAhead } = this.#options
    const ahead = await readAhead()
    if (!ahead || this.#end || this.#isReleased) return
    const there = new Set(cgroup.processes())
    const set = this.#workingSet
    if (set) void ahead.bring(set, (pid) => there.has(pid))
    // Another page may have other processes.
    if (set?.parts.every(({ pid }) => there.has(pid))) return
    clearTimeout(this.#noticing)
    this.#noticing = setTimeout(() => void this.#noticeWorkingSet(ahead), FIRST_MOMENT_MS).unref()
  }

  async #noticeWorkingSet(ahead: ReadAhead): Promise<void> {
    if (this.#isFrozen || this.#end || this.#isReleased) return
    this.#workingSet = await ahead.look(this.#options.cgroup.processes())
  }

  async #stopPageOut(): Promise<void> {
    this.#pagingOut?.stop.abort()
    await this.#pagingOut?.over.catch(() => {})
  }

  setRoute(route: EgressRoute): void {
    this.#egress?.setRoute(route)
  }

  setProject(projectId: string): void {
    this.#egress?.setProject(projectId)
  }

  async setLimits(limits: InstanceLimits): Promise<void> {
    if (!this.#end) this.#options.cgroup.setLimits(limits)
  }

  async setBackground(isBackground: boolean): Promise<void> {
    if (!this.#end) this.#options.cgroup.setBackground(isBackground)
  }

  setOpenings(openings: Openings): void {
    this.#egress?.open(openings)
  }

  endureOom(): void {
    this.#enduresOom = true
  }

  async destroy(): Promise<void> {
    await this.#finish('destroyed')
  }

  /** Ends it, because a device that it needs is gone. */
  async lose(): Promise<void> {
    await this.#finish('lost')
  }

  /** Releases the instance and leaves it running. */
  async release(): Promise<void> {
    if (this.#end) {
      await this.#end
      return
    }
    this.#isReleased = true
    await this.#closeListeners()
    this.#options.directory.close()
  }

  #oneByOne<T>(act: () => Promise<T>): Promise<T> {
    return this.#freezing.run(() => {
      if (this.#end) throw new Error(`Cannot freeze or thaw instance "${this.id}": it has ended`)
      return act()
    })
  }

  #finish(reason: InstanceEnd): Promise<void> {
    this.#end ??= this.#remove(reason)
    return this.#end
  }

  /** Tries each step even if an earlier one failed; the next adopt() finds what is left. */
  async #remove(reason: InstanceEnd): Promise<void> {
    const { cgroup, directory, onGone } = this.#options
    this.#ending.abort(new Error(`Cannot freeze or thaw instance "${this.id}": it is being ended`))
    let end = reason
    // Until this process has joined the group, it is the only one; after that, its children are in the group too.
    this.#child?.kill('SIGKILL')
    await this.#try('end its processes', () => cgroup.kill())
    crashPoint('instance-killed')
    await this.#try('wait for its process', () => this.#childExit())
    await this.#try('find out why it ended', () => {
      if (reason !== 'destroyed' && cgroup.oomKills() > 0) end = 'out-of-memory'
      if (end === 'out-of-memory') this.#lastOomKill = readOomKill(this.#options.uid)
      const stderr = this.#stderr?.drain()
      const { exitCode, signalCode } = this.#child ?? {}
      // Its end may have been noticed by a broken connection, and then it was destroyed.
      const hasFailed = typeof exitCode === 'number' && exitCode !== 0
      if (reason !== 'destroyed' || hasFailed) {
        this.#log.info({ end, exitCode, signalCode, stderr }, 'instance ended unexpectedly')
      }
    })
    await this.#try('close its sockets', () => this.#closeListeners())
    await this.#try('remove its control group', () => cgroup.remove())
    crashPoint('instance-ungrouped')
    await this.#try('remove its directory', () => directory.remove())
    crashPoint('instance-removed')
    onGone()
    this.#isFrozen = false
    this.#resolveEnded(end)
  }

  async #try(step: string, act: () => void | Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.#log.error({ err: error }, `cannot ${step}`)
    }
  }

  async #childExit(): Promise<void> {
    const child = this.#child
    if (!child || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    await new Promise((resolve) => child.once('exit', resolve))
  }

  async #closeListeners(): Promise<void> {
    clearTimeout(this.#noticing)
    this.#stderr?.close()
    if (this.#namespace !== undefined) closeSync(this.#namespace)
    this.#namespace = undefined
    this.#link?.close()
    await this.#egress?.close()
  }
}
