// The server itself, beside its keeper or alone; see main.ts.
import { keptEngines } from './app.ts'
import { run } from './run.ts'

const [first, ...rest] = process.argv.slice(2)

if (first === '--kept') await run(rest, keptEngines)
else await run(process.argv.slice(2))
