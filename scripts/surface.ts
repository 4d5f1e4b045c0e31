// Shows which of the operations that people expect are built. Compares the installed clients with the contract.
//   npm run surface                 everything
//   npm run surface -- --missing    only what is not built
//   npm run surface -- --json       as JSON; can be combined with --missing
import { parseArgs } from 'node:util'
import { operations } from '@berth/contracts/operations'
import { installedClients } from './surface/client-operations.ts'
import { compareSurface } from './surface/compare.ts'
import { surfaceTable, surfaceTotals } from './surface/table.ts'

const { values: options } = parseArgs({
  options: { missing: { type: 'boolean' }, json: { type: 'boolean' } },
})
const surface = compareSurface(await installedClients(), operations)
const rows = options.missing ? surface.rows.filter(({ isBuilt }) => !isBuilt) : surface.rows

if (options.json) console.log(JSON.stringify({ ...surface, rows }, null, 2))
else console.log(`${surfaceTable(surface, rows)}\n\n${surfaceTotals(surface)}`)
