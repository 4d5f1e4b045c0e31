// Commands for the operator. They work with or without a running server.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { isInImage } from '@berth/kit/in-image'
import { ConfigError } from './config/config-error.ts'
import { loadConfig, type Config } from './config/config.ts'
import { environment } from './config/environment.ts'
import { startAsAccount } from './keeper/as-account.ts'
import { findAccount } from './platform/account.ts'
import { insertOperatorKey } from './tenancy/api-keys/operator-key.ts'
import { MOVE_BLOBS_HELP, moveArguments, readMovePlan, runMove } from './move-blobs.ts'
import { newKey } from './tenancy/api-keys/key.ts'
import { announceChange } from './platform/database/changes.ts'
import { openDatabase } from './platform/database/database.ts'
import { joinStorage } from './platform/database/storage.ts'
import type { Db } from './platform/database/schema.ts'
import { openLog } from './platform/log/logging.ts'
import { Keyring } from './platform/secrets/keyring.ts'
import { forgetOtherMasterKeys, registerMasterKeys, rewrapAll } from './platform/secrets/rotation.ts'
import { SealedBox } from './platform/secrets/sealed-box.ts'

/** One of them holds the lock of a move. */
const CONNECTIONS = 6

interface Tools {
  readonly config: Config
  readonly db: Db
  readonly pool: Pool
  readonly log: Logger
}

interface Command {
  readonly help: string
  readonly run: (tools: Tools, args: readonly string[]) => Promise<void>
}

const commands: Record<string, Command> = {
  'mint-key': {
    help: 'Create an organisation-wide API key, for example when all keys are lost.',
    run: mintKey,
  },
  'rotate-master-key': {
    help: 'Re-encrypt every stored secret with a new master key. The old key stays readable.',
    run: rotateMasterKey,
  },
  'forget-old-master-keys': {
    help: 'Re-encrypt all remaining secrets with the current master key and delete the old keys. Every server must have the current key first.',
    run: forgetOldMasterKeys,
  },
  'move-blobs': {
    help: MOVE_BLOBS_HELP,
    run: (tools, args) => runMove(tools, readMovePlan(args)),
  },
}

async function mintKey({ config, db }: Tools): Promise<void> {
  const material = newKey()
  await insertOperatorKey(db, { config, name: 'Minted by the operator', material })
  process.stdout.write(`${material.key}\n`)
}

async function openKeyring({ config, db }: Tools): Promise<Keyring> {
  const ring = await Keyring.open({ dataDir: config.BERTH_DATA_DIR, fromSetting: config.BERTH_MASTER_KEY })
  await registerMasterKeys(db, ring)
  return ring
}

/**
 * First every server must know the new key, then the records move. With BERTH_MASTER_KEY the
 * operator does the first step: put the new key in front of the old one.
 */
async function rotateMasterKey(tools: Tools): Promise<void> {
  const ring = await openKeyring(tools)
  if (ring.isFile) {
    await ring.add()
    await registerMasterKeys(tools.db, ring)
    await announceChange(tools.db, 'masterKeysChanged', {})
  } else if (ring.keys.length < 2) {
    throw new ConfigError([
      'BERTH_MASTER_KEY must list the new key and the old one, in this order, to rotate: new,old',
    ])
  }
  const moved = await rewrapAll(tools.pool, { box: new SealedBox(ring), ring })
  process.stdout.write(
    `Moved ${moved} records to master key ${ring.current.kid}. ` +
      'Older keys stay readable until you run forget-old-master-keys.\n',
  )
}

async function forgetOldMasterKeys(tools: Tools): Promise<void> {
  const ring = await openKeyring(tools)
  const moved = await rewrapAll(tools.pool, { box: new SealedBox(ring), ring })
  await forgetOtherMasterKeys(tools.db, ring)
  process.stdout.write(`Moved ${moved} records; only master key ${ring.current.kid} is left.\n`)
}

function helpText(): string {
  const rows = Object.entries(commands).map(([name, { help }]) => `  ${name}\n      ${help}`)
  return `Usage: ${isInImage ? 'berth admin' : 'npm run admin --'} <command> (with the same settings as the server)\n\n${rows.join('\n')}\n`
}

async function main([name, ...args]: readonly string[]): Promise<void> {
  const command = name === undefined ? undefined : commands[name]
  if (!command) {
    process.stdout.write(helpText())
    process.exitCode = name === undefined || name === '--help' ? 0 : 1
    return
  }
  if (name !== 'move-blobs' && args.length > 0)
    throw new ConfigError([`"${args[0]}" is not an option of ${name}`])
  const config = loadConfig()
  const { log } = openLog('silent')
  await using storage = await joinStorage(config, log)
  const database = openDatabase(storage.connection, { size: CONNECTIONS, log })
  try {
    await command.run({ config, db: database.db, pool: database.pool, log }, args)
  } finally {
    await database.close()
  }
}

/** What a command needs besides the data directory, and its arguments wherever it runs. */
function prepared([name = '', ...args]: readonly string[]): { args: string[]; directories: string[] } {
  if (name !== 'move-blobs') return { args: [name, ...args], directories: [] }
  const plan = readMovePlan(args)
  const directories = [plan.from, plan.to].flatMap((place) =>
    place.kind === 'directory' ? [place.path] : [],
  )
  return { args: [name, ...moveArguments(plan)], directories }
}

/** Root would leave files behind that the server cannot read. */
function runAsAccount(given: readonly string[]): Promise<void> {
  const { args, directories } = prepared(given)
  const [config, account, env] = [loadConfig(), findAccount()!, environment]
  const command = [import.meta.filename, ...args] as const
  const child = startAsAccount({ config, account, command, env, hasChannel: false, directories })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (signal !== null) {
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      }
      process.exitCode = code ?? 1
      resolve()
    })
  })
}

try {
  const [, , ...args] = process.argv
  const isCommand = Object.hasOwn(commands, args[0] ?? '')
  await (process.getuid!() === 0 && isCommand ? runAsAccount(args) : main(args))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
