// What the agent is told when it starts, by its arguments and its environment; no other file reads
// `process.env`. All of it comes from the server, which wrote it, so it is read without checks; what comes
// later over the link is checked in api.ts.
import { instancePaths, instancePorts, type AgentStart } from '@berth/contracts/link'

/** For tests, which run the agent outside an instance. */
export interface Overrides {
  readonly linkSocket?: string
  readonly egressSocket?: string
  readonly home?: string
  readonly profile?: string
  readonly temporary?: string
  readonly policies?: string
  readonly display?: number
  readonly playwrightRunner?: string
  readonly ports?: { readonly devtools: number; readonly proxy: number }
}

export interface Settings {
  readonly start: AgentStart
  /** What the agent was started with; programs of the instance get it too. */
  readonly environment: Readonly<Record<string, string>>
  /** For uploads, until it is known where they go. */
  readonly spool: string
  readonly linkSocket: string
  readonly egressSocket: string
  readonly home: string
  readonly profile: string
  /** Where Chromium looks for its policies. */
  readonly policies: string
  readonly extensions: string
  /** For sockets of our own that need not outlive the instance. */
  readonly temporary: string
  readonly playwrightRunner: string
  /** Number of the X display. */
  readonly display: number
  readonly ports: { readonly devtools: number; readonly proxy: number }
}

export function readSettings(argv: readonly string[]): Settings {
  const [startText, overridesText = '{}'] = argv.slice(2)
  if (startText === undefined) throw new Error('Cannot start the agent: its argument is missing')
  const start = JSON.parse(startText) as AgentStart
  const overrides = JSON.parse(overridesText) as Overrides
  // SAFETY: it has no undefined values; the type allows them for assignments only.
  const environment = { ...process.env } as Record<string, string>
  return {
    start,
    environment,
    spool: environment['HOME'] ?? '/tmp',
    linkSocket: overrides.linkSocket ?? instancePaths.link,
    egressSocket: overrides.egressSocket ?? instancePaths.egress,
    home: overrides.home ?? instancePaths.home,
    profile: overrides.profile ?? (overrides.home ? `${overrides.home}/user-data` : instancePaths.profile),
    policies: overrides.policies ?? (overrides.home ? `${overrides.home}/policies` : instancePaths.policies),
    extensions: overrides.home ? `${overrides.home}/extensions` : instancePaths.extensions,
    temporary: overrides.temporary ?? '/tmp',
    playwrightRunner: overrides.playwrightRunner ?? instancePaths.playwrightRunner,
    display: overrides.display ?? 1,
    ports: overrides.ports ?? instancePorts,
  }
}
