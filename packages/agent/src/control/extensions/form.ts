// Reads several extensions from one form. The published client names the fields extensions[0][name] and
// extensions[0][zip_file]; older clients send pairs of extensions[][name] and extensions[][zip_file], the Go client pairs
// of extensions.name and extensions.zip_file. The parts may come in any order.
import { EXTENSION_NAME, MAX_EXTENSION_BYTES, MAX_EXTENSIONS } from '@berth/contracts/extension-limits'
import { isUnknownText, malformed, partsOf, readText } from '@berth/codecs/form/form'
import { ControlError, type ControlCall } from '../calls/operation.ts'
import { StagedFile } from '../files/disk/staged-file.ts'
import { bodyOf } from '../files/disk/write.ts'

const FIELDS = [
  /^extensions\[(?<index>\d{0,9})\](?:\[(?<field>name|zip_file)\]|\.(?<field>name|zip_file))$/,
  /^extensions\.(?<index>\d{1,9})\.(?<field>name|zip_file)$/,
  /^extensions(?<index>)\.(?<field>name|zip_file)$/,
  /^(?<field>name|zip_file)$/,
]
const NAME = new RegExp(EXTENSION_NAME, 'u')

export interface GivenExtension {
  readonly name: string
  /** Path of the archive; valid until the form is disposed. */
  readonly archive: string
}

export interface ExtensionsForm extends Disposable {
  readonly extensions: readonly GivenExtension[]
}

interface Incomplete {
  name?: string
  archive?: StagedFile
}

export async function readExtensionsForm({ request, spool }: ControlCall): Promise<ExtensionsForm> {
  using staged = new DisposableStack()
  const given = new Map<string, Incomplete>()
  const counts = { name: 0, zip_file: 0 }
  for await (const part of partsOf(bodyOf(request), request.headers['content-type'])) {
    if (isUnknownText(part, FIELDS)) continue
    const { index, field } = fieldOf(part.name)
    const key = index === '' ? `[]${counts[field]++}` : (index ?? 'only')
    const one = given.get(key) ?? {}
    given.set(key, one)
    if (given.size > MAX_EXTENSIONS) throw malformed(`it has more than ${MAX_EXTENSIONS} extensions`)
    if (field === 'name' && one.name === undefined) one.name = checkedName(await readText(part))
    else if (field === 'zip_file' && !one.archive) {
      one.archive = staged.use(StagedFile.create(spool, { for: part.name }))
      await one.archive.fill(bounded(part.content), { for: part.name })
    } else throw malformed(`"${part.name.slice(0, 200)}" is in it twice`)
  }
  const extensions = complete([...given.values()])
  const owned = staged.move()
  return { extensions, [Symbol.dispose]: () => owned.dispose() }
}

function fieldOf(name: string): { index: string | undefined; field: 'name' | 'zip_file' } {
  const match = FIELDS.map((pattern) => pattern.exec(name)).find((found) => found !== null)
  if (!match) throw malformed(`"${name.slice(0, 200)}" is not a field of it; see extensions[0][zip_file]`)
  const { index, field } = match.groups as { index?: string; field: 'name' | 'zip_file' }
  return { index: index ? String(Number(index)) : index, field }
}

function checkedName(name: string): string {
  if (NAME.test(name)) return name
  throw malformed(`the name "${name.slice(0, 200)}" must match ${EXTENSION_NAME}`)
}

async function* bounded(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.length
    if (bytes > MAX_EXTENSION_BYTES) {
      const most = `${MAX_EXTENSION_BYTES / 1024 / 1024} MiB`
      throw new ControlError('payload_too_large', `Cannot take an extension of more than ${most}`)
    }
    yield chunk
  }
}

function complete(given: readonly Incomplete[]): GivenExtension[] {
  if (given.length === 0) throw malformed('it has no extensions; see extensions[0][zip_file]')
  const names = new Set<string>()
  return given.map(({ name, archive }) => {
    if (name === undefined) throw malformed('an extension in it has no name')
    if (!archive) throw malformed(`extension "${name}" in it has no zip_file`)
    if (names.has(name)) throw malformed(`two extensions in it have the name "${name}"`)
    names.add(name)
    return { name, archive: archive.path }
  })
}
