// The program that `npm start` runs.
import { run } from './run.ts'

await run(process.argv.slice(2))
