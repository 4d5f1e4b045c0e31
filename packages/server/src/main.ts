// The program that `npm start` runs. For root it is the keeper, which starts the server as an ordinary account.
// Otherwise it is the server.
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { keep } from './keeper/keep.ts'

const server = join(import.meta.dirname, `server${extname(import.meta.filename)}`)
// Help and wrong arguments need no instances.
const isOnlyText = process.argv.length > 2

if (process.getuid!() === 0 && !isOnlyText) keep(server)
else await import(pathToFileURL(server).href)
