// What somebody has dropped or chosen: files, and folders with everything in them.

export interface Dropped {
  readonly file: File
  /** Its path below the folder that it goes into. */
  readonly path: string
}

/** A person who has more makes an archive of it. */
const MAX_FILES = 5_000

/** The browser forgets what was dropped after the event, so this is called while it is handled. */
export function readDrop({ items, files }: DataTransfer): Promise<readonly Dropped[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  const plain = chosen(files)
  return entries.length === 0 ? Promise.resolve(plain) : readEntries(entries)
}

/** Files of a field; with `webkitdirectory` they know their folder. */
export const chosen = (files: FileList | null): Dropped[] =>
  [...(files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }))

async function readEntries(entries: readonly FileSystemEntry[]): Promise<readonly Dropped[]> {
  const found: Dropped[] = []
  const left = [...entries]
  for (let entry = left.shift(); entry !== undefined; entry = left.shift()) {
    if (isFolder(entry)) left.push(...(await childrenOf(entry)))
    else {
      const file = entry as FileSystemFileEntry
      found.push({
        file: await new Promise((resolve, reject) => file.file(resolve, reject)),
        path: pathOf(entry),
      })
    }
    if (found.length + left.length > MAX_FILES) {
      throw new Error(
        `Cannot upload the folder: it has more than ${MAX_FILES.toLocaleString('en')} files; upload an archive of it, and unpack it in the terminal`,
      )
    }
  }
  return found
}

/** The browser gives at most a hundred at once. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (part.length === 0 || all.length > MAX_FILES) return all
    all.push(...part)
  }
}

const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory
const pathOf = ({ fullPath }: FileSystemEntry) => fullPath.replace(/^\//, '')
