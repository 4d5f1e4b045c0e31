// An archive is first unpacked beside its destination, and moved there only if all of it is valid.
import { lstat, mkdir, realpath, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isUnknownText, malformed, partsOf, readText } from '@berth/codecs/form/form'
import { ControlError, type ControlCall } from '../calls/operation.ts'
import { bytesOf, toBytePath, toText } from './disk/byte-paths.ts'
import { cleanPath, nearestDirectory, temporaryName } from './disk/paths.ts'
import { isMissing, refusalOf, refuse } from './disk/refusal.ts'
import { openRegular } from './disk/regular-file.ts'
import { checkRoom, StagedFile } from './disk/staged-file.ts'
import { entriesOf, removeTree } from './disk/tree.ts'
import { unpack } from './zip/unpack.ts'
import { bodyOf } from './disk/write.ts'

const FIELDS = [/^dest_path$/, /^zip_file$/]

export async function uploadZip(call: ControlCall): Promise<void> {
  using form = await readForm(call)
  const { archive, target } = form
  const near = target.isThere ? target.path : await nearestDirectory(target.path)
  await unpackInto(archive, { near, target, signal: call.signal })
}

interface Target {
  readonly path: string
  readonly isThere: boolean
}

interface Form extends Disposable {
  readonly archive: string
  readonly target: Target
}

async function readForm({ request, spool }: ControlCall): Promise<Form> {
  using staged = new DisposableStack()
  let archive: StagedFile | undefined
  let target: Target | undefined
  for await (const part of partsOf(bodyOf(request), request.headers['content-type'])) {
    if (part.name === 'dest_path' && !target) {
      target = await targetAt(cleanPath(await readText(part)))
    } else if (part.name === 'zip_file' && !archive) {
      archive = staged.use(StagedFile.create(spool, { for: part.name }))
      await archive.fill(part.content, { for: part.name })
    } else if (!isUnknownText(part, FIELDS)) {
      throw malformed(`"${part.name.slice(0, 200)}" is not a field of it, or in it twice`)
    }
  }
  if (!target) throw malformed('it has no dest_path')
  if (!archive) throw malformed('it has no zip_file')
  const owned = staged.move()
  return { archive: archive.path, target, [Symbol.dispose]: () => owned.dispose() }
}

async function targetAt(path: string): Promise<Target> {
  const stats = await stat(path).catch((error: unknown) =>
    isMissing(error) ? undefined : refuse(path)(error),
  )
  if (!stats) {
    const link = await lstat(path).catch(() => undefined)
    if (link)
      throw new ControlError('conflict', `Cannot unpack into "${path}": it is a link that leads nowhere`)
    return { path, isThere: false }
  }
  if (!stats.isDirectory()) throw new ControlError('conflict', `Cannot unpack into "${path}": it is a file`)
  return { path: await realpath(path), isThere: true }
}

async function unpackInto(
  path: string,
  { near, target, signal }: { near: string; target: Target; signal: AbortSignal },
): Promise<void> {
  const temporary = join(near, temporaryName())
  const { handle, stats } = await openRegular(path)
  try {
    await mkdir(temporary, { mode: 0o755 })
    await unpack({
      archive: handle,
      size: stats.size,
      into: temporary,
      checkRoom: (bytes) => checkRoom(near, bytes, { for: target.path }),
      signal,
    })
    if (target.isThere) {
      await checkMerge(toBytePath(temporary), toBytePath(target.path))
      await merge(toBytePath(temporary), toBytePath(target.path))
    } else {
      await mkdir(dirname(target.path), { recursive: true, mode: 0o755 })
      await rename(temporary, target.path)
    }
  } catch (error) {
    throw refusalOf(target.path, error)
  } finally {
    await handle.close()
    await removeTree(toBytePath(temporary)).catch(() => {})
  }
}

/** Checks before anything is moved: a directory may only merge into a directory, a file may not replace one. */
async function checkMerge(from: string, to: string): Promise<void> {
  for await (const { name, path, isDirectory } of entriesOf(from)) {
    const there = await lstat(bytesOf(`${to}/${name}`)).catch(() => undefined)
    if (!there) continue
    if (there.isDirectory() !== isDirectory) {
      const what = there.isDirectory() ? 'a directory' : 'something that is not a directory'
      throw new ControlError('conflict', `Cannot unpack to "${toText(`${to}/${name}`)}": ${what} is there`)
    }
    if (isDirectory) await checkMerge(path, `${to}/${name}`)
  }
}

async function merge(from: string, to: string): Promise<void> {
  // Lists all entries first, because moving them changes the directory.
  for (const { name, path, isDirectory } of await Array.fromAsync(entriesOf(from))) {
    const place = `${to}/${name}`
    const isThere = isDirectory && (await lstat(bytesOf(place)).catch(() => undefined))?.isDirectory()
    if (isThere) await merge(path, place)
    else await rename(bytesOf(path), bytesOf(place))
  }
}
