// The export of sessions: chosen at their creation, by an update, or by the lease of a pooled browser.
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { TelemetryRequest } from '@berth/contracts/telemetry'
import type { Db } from '../../platform/database/schema.ts'
import { bindExport } from '../telemetry/export/bindings.ts'
import { exportChoice, type ExportChoice } from '../telemetry/export/choice.ts'
import { resolveDestination } from '../telemetry/export/references.ts'
import type { Selection } from '../telemetry/selection.ts'
import type { ExtraSource, LookUp, SessionExtra } from './extras.ts'
import type { BrowserRecord, NewBrowser } from './types.ts'

export class SessionExports implements ExtraSource {
  async extraFor(
    { telemetry }: CreateBrowserRequest,
    { projectId, telemetry: selection }: NewBrowser,
    { db }: Pick<LookUp, 'db'>,
  ): Promise<SessionExtra | undefined> {
    const choice = exportChoice(telemetry, { selection, isExporting: false })
    if (!choice) return undefined
    // Refused now, before an instance is taken.
    await resolveDestination(db, projectId, choice, { isHeld: false })
    return {
      needsStart: false,
      bring: () => Promise.resolve(),
      keep: (tx, browser) => this.apply(tx, browser, choice),
    }
  }

  /** What an update makes of a session's export. Throws for an impossible request. */
  choiceOf(
    record: Pick<BrowserRecord, 'telemetry_destination_id'>,
    request: TelemetryRequest | null | undefined,
    selection: Selection | undefined,
  ): ExportChoice {
    return exportChoice(request, { selection, isExporting: record.telemetry_destination_id !== null })
  }

  /** In the transaction that has changed and so locked the session's row. Returns the row as it is then. */
  async apply(tx: Db, record: BrowserRecord, choice: ExportChoice): Promise<BrowserRecord> {
    if (choice === undefined) return record
    const { id, project_id: projectId } = record
    const destinationId =
      choice === null ? null : await resolveDestination(tx, projectId, choice, { isHeld: true })
    await bindExport(tx, id, destinationId)
    return { ...record, telemetry_destination_id: destinationId }
  }
}
