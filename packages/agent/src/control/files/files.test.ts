// File operations and their failures. Tests that need an instance are in tests/e2e/files.test.ts.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { everythingIn, startControl } from '../../../../../tests/fixtures/agent/control-under-test.ts'

const control = await startControl()
const { directory } = control
const at = (name: string) => join(directory, name)

const write = (path: string, body: string | Uint8Array<ArrayBuffer>, mode = '') =>
  control.send('PUT', `/fs/write_file?path=${encodeURIComponent(path)}${mode && `&mode=${mode}`}`, { body })
const get = (operation: string, path: string) =>
  control.send('GET', `/fs/${operation}?path=${encodeURIComponent(path)}`)
const put = (operation: string, body: object) =>
  control.send('PUT', `/fs/${operation}`, { body: JSON.stringify(body) })

writeFileSync(at('file'), 'content')
mkdirSync(at('directory'))
symlinkSync(at('file'), at('link'))
symlinkSync(at('nowhere'), at('dangling'))
symlinkSync(at('circle'), at('circle'))
spawnSync('mkfifo', [at('pipe')])

const LONG = `/${'x'.repeat(255)}`.repeat(17)
const wrongTargets: Record<string, { path: string; code: string }> = {
  'a relative path': { path: 'x', code: 'bad_request' },
  'a path with NUL': { path: `${at('x')}\0y`, code: 'bad_request' },
  'a path of 4352 bytes': { path: LONG, code: 'bad_request' },
  'a name of 300 bytes': { path: at('x'.repeat(300)), code: 'bad_request' },
  'a directory': { path: at('directory'), code: 'bad_request' },
  'a path with a slash at its end': { path: `${at('new')}/`, code: 'bad_request' },
  'a pipe': { path: at('pipe'), code: 'bad_request' },
  'a device': { path: '/dev/null', code: 'bad_request' },
  'a circle of links': { path: at('circle'), code: 'bad_request' },
  'a link to nowhere': { path: at('dangling'), code: 'conflict' },
  'a path below a file': { path: at('file/below'), code: 'conflict' },
  'a path deep below a file': { path: at('file/below/that'), code: 'conflict' },
  'a setting of the kernel': { path: '/proc/sys/kernel/berth', code: 'bad_request' },
}

for (const [what, { path, code }] of Object.entries(wrongTargets)) {
  test(`writing to ${what} is refused as ${code}`, async () => {
    const before = everythingIn(directory)
    const answer = await write(path, 'content')
    assert.equal(answer.code, code, answer.message)
    assert.deepEqual(everythingIn(directory), before)
  })
}

test('a file is written with its mode, through links, and keeps its mode when it is replaced', async () => {
  assert.equal((await write(at('made/with/directories'), 'one')).status, 204)
  assert.equal(statSync(at('made/with/directories')).mode & 0o7777, 0o644)
  assert.equal((await write(at('made/with/directories'), 'two', '4711')).status, 204)
  assert.equal((await write(at('made/with/directories'), new Uint8Array())).status, 204)
  assert.equal(statSync(at('made/with/directories')).mode & 0o7777, 0o4711)
  assert.equal(statSync(at('made/with/directories')).size, 0)
  assert.equal((await write(at('link'), 'through')).status, 204)
  assert.equal(readFileSync(at('file'), 'utf8'), 'through')
  assert.ok(lstatSync(at('link')).isSymbolicLink())
  assert.equal((await write(at('made/../dots'), 'dots')).status, 204)
  assert.equal(readFileSync(at('dots'), 'utf8'), 'dots')
})

test('an interrupted write leaves no new file and keeps the old one', async () => {
  await write(at('old'), 'old')
  const before = everythingIn(directory)
  for (const path of ['old', 'new', 'made/new']) {
    const sent = request(`${control.url}/fs/write_file?path=${at(path)}`, { method: 'PUT' })
    sent.on('error', () => {})
    sent.write(Buffer.alloc(300_000))
    while (everythingIn(directory).length === before.length) await delay(1)
    sent.destroy()
    while (everythingIn(directory).length > before.length) await delay(1)
  }
  assert.deepEqual(everythingIn(directory), before)
  assert.equal(readFileSync(at('old'), 'utf8'), 'old')
})

test('a refusal is sent while the body is still arriving', async () => {
  const sent = request(`${control.url}/fs/write_file?path=${at('directory')}`, { method: 'PUT' })
  sent.write('the first of many')
  const [answer] = (await once(sent, 'response')) as [{ statusCode: number }]
  assert.equal(answer.statusCode, 400)
  sent.on('error', () => {}).destroy()
})

test('regular files are read unchanged, and anything else is refused', async () => {
  const content = Buffer.alloc(1_500_000, 'some content ')
  writeFileSync(at('large'), content)
  assert.deepEqual((await get('read_file', at('large'))).body, content)
  assert.match((await get('read_file', '/proc/self/status')).body.toString(), /^Name:/)
  for (const [path, code] of [
    [at('none'), 'not_found'],
    [at('directory'), 'bad_request'],
    [at('pipe'), 'bad_request'],
    [at('circle'), 'bad_request'],
    [at('file/below'), 'conflict'],
    ['/dev/zero', 'bad_request'],
    ['/proc/self/mem/x', 'conflict'],
    [LONG, 'bad_request'],
  ] as const) {
    const answer = await get('read_file', path)
    assert.equal(answer.code, code, `${path}: ${answer.message}`)
  }
})

test('a directory is listed by name with everything in it', async () => {
  mkdirSync(at('listed/sub'), { recursive: true })
  writeFileSync(at('listed/b'), 'content', { mode: 0o640 })
  symlinkSync('/nowhere', at('listed/a'))
  spawnSync('mkfifo', [at('listed/pipe')])
  writeFileSync(Buffer.concat([Buffer.from(`${at('listed')}/`), Buffer.from([0xff])]), '')
  const files = JSON.parse((await get('list_files', at('listed'))).body.toString()) as Record<
    string,
    unknown
  >[]
  assert.deepEqual(
    files.map(({ name, is_dir, size_bytes, mode }) => [name, is_dir, size_bytes, mode]),
    [
      ['a', false, '/nowhere'.length, 'lrwxrwxrwx'],
      ['b', false, 7, '-rw-r-----'],
      ['pipe', false, 0, 'prw-r--r--'],
      ['sub', true, 0, 'drwxr-xr-x'],
      ['\u{fffd}', false, 0, '-rw-r--r--'],
    ],
  )
  assert.deepEqual(JSON.parse((await get('list_files', at('listed/sub'))).body.toString()), [])
  assert.equal((await get('list_files', at('listed/b'))).code, 'bad_request')
  assert.equal((await get('list_files', at('listed/b/below'))).code, 'conflict')
  assert.equal((await get('list_files', at('listed/none'))).code, 'not_found')
})

test('special bits are shown as ls does', async () => {
  for (const [bits, text] of [
    [0o4755, '-rwsr-xr-x'],
    [0o7000, '---S--S--T'],
  ] as const) {
    chmodSync(at('dots'), bits)
    const { mode } = JSON.parse((await get('file_info', at('dots'))).body.toString()) as { mode: string }
    assert.equal(mode, text)
  }
})

test('a new directory gets the requested mode, its parents the default one', async () => {
  assert.equal((await put('create_directory', { path: at('up/down'), mode: '0500' })).status, 204)
  assert.equal(statSync(at('up/down')).mode & 0o7777, 0o500)
  assert.equal(statSync(at('up')).mode & 0o7777, 0o755)
  assert.equal((await put('create_directory', { path: at('up') })).status, 204)
  assert.equal((await put('create_directory', { path: at('file') })).code, 'conflict')
  assert.equal((await put('create_directory', { path: at('file/below') })).code, 'conflict')
})

test('delete removes only the named entry', async () => {
  mkdirSync(at('tree/deep/er'), { recursive: true })
  symlinkSync(directory, at('tree/deep/link'))
  writeFileSync(Buffer.concat([Buffer.from(`${at('tree/deep')}/`), Buffer.from([0xfe, 0xff])]), '')
  symlinkSync(at('tree'), at('to-tree'))
  spawnSync('mkfifo', [at('tree/pipe')])
  assert.equal((await put('delete_directory', { path: at('to-tree') })).code, 'bad_request')
  assert.equal((await put('delete_directory', { path: at('file') })).code, 'bad_request')
  assert.equal((await put('delete_file', { path: at('tree') })).code, 'bad_request')
  assert.equal((await put('delete_file', { path: at('none') })).code, 'not_found')
  assert.equal((await put('delete_file', { path: at('to-tree') })).status, 204)
  assert.equal((await put('delete_directory', { path: at('tree') })).status, 204)
  assert.equal((await put('delete_directory', { path: at('tree') })).status, 204)
  assert.ok(!existsSync(at('tree')))
  assert.ok(existsSync(at('file')))
  for (const path of ['/', '/proc', '/dev', '/home/../dev']) {
    assert.equal((await put('delete_directory', { path })).code, 'conflict', path)
  }
})

test('move puts the entry at its destination, or reports what is in the way', async () => {
  mkdirSync(at('from/sub'), { recursive: true })
  writeFileSync(at('from/sub/file'), 'moved')
  const move = (from: string, to: string) => put('move', { src_path: at(from), dest_path: at(to) })
  assert.equal((await move('from', 'to')).status, 204)
  assert.equal(readFileSync(at('to/sub/file'), 'utf8'), 'moved')
  assert.equal((await move('from', 'to')).code, 'not_found')
  assert.equal((await move('to', 'nowhere/to')).code, 'not_found')
  assert.equal((await move('to', 'to/sub/to')).code, 'bad_request')
  assert.equal((await move('file', 'to')).code, 'conflict')
  mkdirSync(at('another'))
  assert.equal((await move('another', 'to')).code, 'conflict')
  assert.equal((await move('another', 'file')).code, 'conflict')
  assert.equal((await move('to/sub/file', 'file')).status, 204)
  assert.equal(readFileSync(at('file'), 'utf8'), 'moved')
})

test('permissions are set, and owners as far as possible', async () => {
  const wanted = { path: at('file'), mode: '0600', owner: 'nobody-knows', group: '0' }
  assert.equal((await put('set_file_permissions', wanted)).status, 204)
  assert.equal(statSync(at('file')).mode & 0o7777, 0o600)
  assert.equal((await put('set_file_permissions', { ...wanted, path: at('none') })).code, 'not_found')
})

type Fields = readonly (readonly [string, string])[]
function upload(fields: Fields): ReturnType<typeof control.send> {
  const body = new FormData()
  for (const [name, value] of fields) {
    if (name.includes('dest_path') || name === 'newer') body.append(name, value)
    else body.append(name, new Blob([value]), 'a name that is not used')
  }
  return control.send('POST', '/fs/upload', { body })
}

const forms: Record<string, Fields> = {
  'files[0][file]': [
    ['files[1][file]', 'two'],
    ['files[0][dest_path]', at('form/0/one')],
    ['files[1][dest_path]', at('form/0/two')],
    ['files[0][file]', 'one'],
  ],
  'files[][file]': [
    ['files[][dest_path]', at('form/1/one')],
    ['files[][file]', 'one'],
    ['files[][dest_path]', at('form/1/two')],
    ['files[][file]', 'two'],
  ],
  'files[][file] with all paths last': [
    ['files[][file]', 'one'],
    ['files[][file]', 'two'],
    ['files[][dest_path]', at('form/2/one')],
    ['files[][dest_path]', at('form/2/two')],
  ],
  'files[0].file': [
    ['files[0].file', 'one'],
    ['files[0].dest_path', at('form/3/one')],
    ['files[7].file', 'two'],
    ['files[7].dest_path', at('form/3/two')],
  ],
  'files.0.file': [
    ['files.0.dest_path', at('form/4/one')],
    ['files.0.file', 'one'],
    ['files.1.dest_path', at('form/4/two')],
    ['files.1.file', 'two'],
  ],
  'files.file, as the Go client sends it': [
    ['files.dest_path', at('form/5/one')],
    ['files.file', 'one'],
    ['files.dest_path', at('form/5/two')],
    ['files.file', 'two'],
  ],
}

for (const [index, [what, fields]] of Object.entries(forms).entries()) {
  test(`a form with ${what} is understood`, async () => {
    const answer = await upload(fields)
    assert.equal(answer.status, 204, answer.message)
    for (const name of ['one', 'two']) assert.equal(readFileSync(at(`form/${index}/${name}`), 'utf8'), name)
  })
}

test('a text field that is not known is ignored', async () => {
  const answer = await upload([
    ['newer', '{"overwrite":"never"}'],
    ['file', 'with more'],
    ['dest_path', at('form/newer')],
  ])
  assert.equal(answer.status, 204, answer.message)
  assert.equal(readFileSync(at('form/newer'), 'utf8'), 'with more')
})

test('a form with one file is understood', async () => {
  assert.equal(
    (
      await upload([
        ['file', 'one'],
        ['dest_path', at('form/only')],
      ])
    ).status,
    204,
  )
  assert.equal(readFileSync(at('form/only'), 'utf8'), 'one')
})

const good: Fields = [
  ['files[0][file]', 'one'],
  ['files[0][dest_path]', at('never')],
]
const wrongForms: Record<string, { fields: Fields; reason: RegExp }> = {
  'an unknown file': { fields: [...good, ['other', 'x']], reason: /"other"/ },
  nothing: { fields: [], reason: /no files|ends before/ },
  'a field twice': { fields: [...good, good[0]!], reason: /twice/ },
  'no path': { fields: [...good, ['files[1][file]', 'x']], reason: /no dest_path/ },
  'no file': { fields: [...good, ['files[1][dest_path]', at('x')]], reason: /no file/ },
  'one path for two': {
    fields: [...good, ['files[1][file]', 'x'], ['files[1][dest_path]', at('never')]],
    reason: /two files/,
  },
  'a relative path': {
    fields: [...good, ['files[1][file]', 'x'], ['files[1][dest_path]', 'x']],
    reason: /absolute/,
  },
  'a directory as path': {
    fields: [...good, ['files[1][file]', 'x'], ['files[1][dest_path]', at('directory')]],
    reason: /directory/,
  },
  'a path below a file': {
    fields: [...good, ['files[1][file]', 'x'], ['files[1][dest_path]', at('file/below')]],
    reason: /file/,
  },
}

for (const [what, { fields, reason }] of Object.entries(wrongForms)) {
  test(`a form with ${what} is refused, and nothing is written`, async () => {
    const before = everythingIn(directory)
    const answer = await upload(fields)
    assert.ok(answer.code === 'bad_request' || answer.code === 'conflict', String(answer.status))
    assert.match(answer.message, reason)
    assert.deepEqual(everythingIn(directory), before)
  })
}

test('an archive leaves out special files, and only directories can be packed', async () => {
  assert.equal((await get('download_dir_zip', at('file'))).code, 'bad_request')
  assert.equal((await get('download_dir_zip', at('none'))).code, 'not_found')
})
