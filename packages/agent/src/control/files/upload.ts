// Several files in one form. The published client names the fields files[0][file] and files[0][dest_path],
// older ones use pairs of files[][file] and files[][dest_path], the Go client pairs of files.file and files.dest_path,
// and there are other variants. Parts may come in any order.
import { isUnknownText, malformed, partsOf, readText } from '@berth/codecs/form/form'
import type { ControlCall } from '../calls/operation.ts'
import { cleanPath } from './disk/paths.ts'
import { placeFor, StagedFile, type Place } from './disk/staged-file.ts'
import { bodyOf } from './disk/write.ts'

const FIELDS = [
  /^files\[(?<index>\d{0,9})\](?:\[(?<field>file|dest_path)\]|\.(?<field>file|dest_path))$/,
  /^files\.(?<index>\d{1,9})\.(?<field>file|dest_path)$/,
  /^files(?<index>)\.(?<field>file|dest_path)$/,
  /^(?<field>file|dest_path)$/,
]

interface Upload {
  readonly field: string
  file?: StagedFile
  path?: string
}

export async function upload({ request, spool }: ControlCall): Promise<void> {
  using staged = new DisposableStack()
  const uploads = new Uploads()
  for await (const part of partsOf(bodyOf(request), request.headers['content-type'])) {
    if (isUnknownText(part, FIELDS)) continue
    const { one, field } = uploads.of(part.name)
    if (field === 'dest_path') {
      one.path = cleanPath(await readText(part))
      continue
    }
    const near = one.path === undefined ? spool : (await placeFor(one.path)).near
    one.file = staged.use(StagedFile.create(near, { for: one.path ?? part.name }))
    await one.file.fill(part.content, { for: one.path ?? part.name })
  }
  // Every file is staged beside its destination before the first one is moved there.
  const ready: { file: StagedFile; place: Place }[] = []
  for (const { path, file } of uploads.complete()) {
    const place = await placeFor(path)
    ready.push({ place, file: staged.use(await file.near(place)) })
  }
  for (const { file, place } of ready) await file.takePlace(place)
}

class Uploads {
  readonly #uploads = new Map<string, Upload>()
  /** For forms without numbers: the first file belongs to the first path, and so on. */
  readonly #counts = { file: 0, dest_path: 0 }

  of(name: string): { one: Upload; field: 'file' | 'dest_path' } {
    const match = FIELDS.map((pattern) => pattern.exec(name)).find((found) => found !== null)
    if (!match) throw malformed(`"${name.slice(0, 200)}" is not a field of it; see files[0][file]`)
    const { index, field } = match.groups as { index?: string; field: 'file' | 'dest_path' }
    const key =
      index === '' ? `[]${this.#counts[field]++}` : index === undefined ? 'only' : String(Number(index))
    const one = this.#uploads.get(key) ?? { field: name }
    this.#uploads.set(key, one)
    if ((field === 'file' ? one.file : one.path) !== undefined) {
      throw malformed(`"${name}" is in it twice`)
    }
    return { one, field }
  }

  complete(): { path: string; file: StagedFile }[] {
    if (this.#uploads.size === 0) throw malformed('it has no files')
    const complete = [...this.#uploads.values()].map(({ field, path, file }) => {
      if (path === undefined) throw malformed(`"${field}" has no dest_path`)
      if (file === undefined) throw malformed(`"${field}" has no file`)
      return { path, file }
    })
    const paths = complete.map(({ path }) => path)
    const twice = paths.find((path, index) => paths.indexOf(path) !== index)
    if (twice !== undefined) throw malformed(`"${twice}" is the dest_path of two files`)
    return complete
  }
}
