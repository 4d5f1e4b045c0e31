// Combines all control operations of the instance, beyond the browser's own protocols.
import { PROCESSES_HEADER } from '@berth/contracts/link'
import type { Chromium } from '../chromium/chromium.ts'
import type { Settings } from '../instance/settings.ts'
import type { ServiceLogs } from '../log/service-log.ts'
import type { AnswerRequest, AnswerUpgrade } from '../requests/answer.ts'
import { curlOperations } from './curl/operations.ts'
import { Requests } from './curl/requests.ts'
import type { ComputerHandlers } from './computer/handlers.ts'
import { computerOperations } from './computer/operations.ts'
import { Extensions } from './extensions/extensions.ts'
import { extensionOperations } from './extensions/operations.ts'
import { fileOperations } from './files/operations.ts'
import { logOperations } from './logs/operations.ts'
import { Executors } from './playwright/executors.ts'
import { playwrightOperations } from './playwright/operations.ts'
import { replOperations } from './repl/operations.ts'
import { Repl } from './repl/repl.ts'
import { Tabs } from './playwright/tabs.ts'
import { attacher, type AttacherOptions } from './processes/attach.ts'
import { programEnvironment } from './processes/environment.ts'
import { processOperations } from './processes/operations.ts'
import { Pipes } from './processes/pipes.ts'
import { Processes } from './processes/processes.ts'
import { webMcpOperations } from './webmcp/operations.ts'
import { controlRouter } from './calls/router.ts'

export interface ControlsOptions {
  readonly settings: Settings
  readonly chromium: Chromium
  readonly logs: ServiceLogs
  /** Loads what moves mouse and keyboard. */
  readonly loadComputer: () => Promise<ComputerHandlers>
  readonly loadTerminals: AttacherOptions['loadTerminals']
  /** Called with the number of running spawned programs. */
  readonly onProcesses: (running: number) => void
}

export class Controls {
  readonly #processes: Processes
  readonly #executors: Executors
  readonly #repl: Repl
  readonly extensions: Extensions
  readonly answer: AnswerRequest
  readonly upgrade: AnswerUpgrade

  constructor({ settings, chromium, logs, loadComputer, loadTerminals, onProcesses }: ControlsOptions) {
    const pipes = new Pipes()
    this.#processes = new Processes({ directory: settings.temporary, pipes, onCount: onProcesses })
    this.extensions = new Extensions({
      directory: settings.extensions,
      profile: settings.profile,
      chromium,
    })
    this.upgrade = attacher({ processes: this.#processes, loadTerminals })
    const surroundings = () => ({
      home: settings.home,
      environment: programEnvironment(settings, chromium.displayName),
    })
    this.#executors = new Executors({ settings, chromium, tabs: new Tabs(chromium) })
    this.#repl = new Repl({ settings, chromium, others: () => this.#executors.ownTabs, surroundings })
    this.answer = controlRouter({
      spool: settings.spool,
      operations: [
        ...fileOperations,
        ...extensionOperations(this.extensions),
        ...computerOperations(loadComputer),
        ...processOperations({ pipes, processes: this.#processes, surroundings }),
        ...logOperations({ logs }),
        ...playwrightOperations(this.#executors),
        ...replOperations(this.#repl),
        ...webMcpOperations(chromium),
        ...curlOperations(new Requests({ settings, chromium })),
      ],
      onAnswer: (response) => {
        // The server knows it no later than the caller.
        const { count } = this.#processes
        if (count > 0) response.setHeader(PROCESSES_HEADER, String(count))
      },
    })
  }

  /** Kills all running programs. */
  kill(): void {
    this.#processes.kill()
    this.#executors.kill()
    this.#repl.kill()
  }
}
