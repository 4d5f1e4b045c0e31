// The telemetry destinations that connections select, and the logins that use them.
import { sql } from 'kysely'
import type { DestinationRef } from '@berth/contracts/telemetry'
import type { DestinationUse } from '../../sessions/telemetry/export/types.ts'

const destinationOf = (table: string) => sql`${sql.ref(`${table}.telemetry`)} #> '{export,otlp,destination}'`

export const destinationUse: DestinationUse = {
  what: 'auth connections or their logins',
  namedIn: async (tx, projectId) => {
    const { rows } = await sql<{ ref: DestinationRef }>`
      SELECT DISTINCT ref FROM (
        SELECT ${destinationOf('auth_connections')} AS ref FROM auth_connections
        WHERE project_id = ${projectId} AND deleted_at IS NULL
        UNION ALL
        SELECT ${destinationOf('auth_flows')} FROM auth_flows
        JOIN auth_connections ON auth_connections.id = auth_flows.connection_id
        WHERE auth_connections.project_id = ${projectId} AND auth_flows.finished_at IS NULL
      ) AS named WHERE ref IS NOT NULL`.execute(tx)
    return rows.map(({ ref }) => ref)
  },
}
