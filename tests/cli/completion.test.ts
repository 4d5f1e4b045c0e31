// Completions in the real shells: somebody types a part of a command and presses Tab.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { NOWHERE } from '../fixtures/addresses.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { createWebhook } from '../fixtures/webhook-receiver.ts'
import { berthFor, PROGRAM } from './berth.ts'
import { openScreen } from './screen.ts'

const owner = { after }
const server = await startServer(owner)
const berth = berthFor(owner, server)
const bin = join(berth.home, 'bin')
mkdirSync(bin)
writeFileSync(join(bin, 'berth'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`)
chmodSync(join(bin, 'berth'), 0o755)
const env = { ...berth.env, PATH: `${bin}:${berth.env['PATH']}`, LANG: 'C.UTF-8' }

const { session_id: session } = await createSession(server, { name: 'harbour' })
assert.equal((await send(server, 'POST', '/profiles', { name: 'two words' })).status, 201)
const { id: webhook } = await createWebhook(server, { url: NOWHERE }, { event_types: ['pool.empty'] })
writeFileSync(join(berth.home, 'payload.json'), '{}')
// A directory with the name of a command must not become a path.
mkdirSync(join(berth.home, 'browsers'))

const shells = {
  bash: { shell: ['bash', '--norc', '--noprofile'], load: 'source <(berth completion bash)' },
  zsh: { shell: ['zsh', '-f'], load: 'source <(berth completion zsh)' },
  fish: {
    // Suggestions would show words that nobody completed.
    shell: ['fish', '-C', "function fish_prompt; printf '$ '; end; set -g fish_autosuggestion_enabled 0"],
    load: 'berth completion fish | source',
  },
}

/** What is typed, and the line after Tab. */
const lines: readonly (readonly [what: string, typed: string, completed: string])[] = [
  ['a command', 'berth brow', 'berth browsers'],
  ['a command below another', 'berth browsers dev', 'berth browsers devtools'],
  ['a flag', 'berth browsers create --headl', 'berth browsers create --headless'],
  ['the value of a flag', 'berth browsers list -o js', 'berth browsers list -o json'],
  ['the name of a session', 'berth browsers get har', 'berth browsers get harbour'],
  ['the session of a list', 'berth replays list har', 'berth replays list harbour'],
  ['the only one there is', 'berth browsers handover create ', 'berth browsers handover create harbour'],
  ['a name with a space', 'berth profiles get two', String.raw`berth profiles get two\ words`],
  ['an id', `berth webhooks get ${webhook.slice(0, 3)}`, `berth webhooks get ${webhook}`],
  [
    'a file',
    'berth invoke app action --payload-file pay',
    'berth invoke app action --payload-file payload.json',
  ],
]

for (const [name, { shell, load }] of Object.entries(shells)) {
  describe(`completions for ${name}`, () => {
    const screen = openScreen(owner, { env, cwd: berth.home, shell, columns: 120 })

    test('are loaded', async () => {
      await screen.shows(/^\$/m)
      screen.type(`${load}; echo loa""ded`)
      screen.press('Enter')
      await screen.shows(/^loaded$/m)
    })

    for (const [what, typed, completed] of lines) {
      test(`complete ${what}`, async () => {
        screen.press('C-u', 'C-l')
        screen.type(typed)
        screen.press('Tab')
        await screen.shows(new RegExp(`^\\$ ${literal(completed)}$`, 'm'))
      })
    }

    test('complete what then runs', async () => {
      screen.press('C-u', 'C-l')
      screen.type('berth browsers get har')
      screen.press('Tab')
      await screen.shows(/get harbour$/m)
      screen.press('Enter')
      await screen.shows(new RegExp(session))
    })
  })
}

const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
