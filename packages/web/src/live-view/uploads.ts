// Sends dropped, pasted or chosen files to the session, one after another.
import { SerialQueue } from '@berth/kit/serial-queue'
import { element } from '../shared/elements.ts'
import { lastingToast, type Toast } from '../shared/toasts.ts'

export class Uploads {
  readonly #turns = new SerialQueue()

  constructor() {
    const chooser = element('files') as HTMLInputElement
    element('upload').addEventListener('click', () => chooser.click())
    chooser.addEventListener('change', () => {
      this.add(chooser.files ?? [])
      chooser.value = ''
    })
    this.#listenForDrops()
  }

  add(files: Iterable<File>): void {
    for (const file of files) void this.#turns.run(() => send(file))
  }

  #listenForDrops(): void {
    let depth = 0
    const show = () => (document.body.dataset['dropping'] = String(depth > 0))
    document.addEventListener('dragenter', (event) => {
      if (!hasFiles(event)) return
      depth++
      show()
    })
    document.addEventListener('dragleave', (event) => {
      if (!hasFiles(event)) return
      depth = Math.max(0, depth - 1)
      show()
    })
    document.addEventListener('dragover', (event) => {
      if (hasFiles(event)) event.preventDefault()
    })
    document.addEventListener('drop', (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      depth = 0
      show()
      this.add(event.dataTransfer!.files)
    })
  }
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false

async function send(file: File): Promise<void> {
  const toast = lastingToast(`Uploading ${file.name}`)
  try {
    toast.say(`Uploaded to ${await post(file, toast)}`)
  } catch (error) {
    toast.say(`Cannot upload ${file.name}: ${(error as Error).message}`, 'problem')
  }
  toast.end()
}

/** Not fetch, which does not report the progress of an upload. */
function post(file: File, toast: Toast): Promise<string> {
  const url = new URL('/browser/live/files', location.href)
  url.search = location.search
  url.searchParams.set('name', file.name)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', url)
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      if (total > 0) toast.say(`Uploading ${file.name}: ${Math.floor((loaded / total) * 100)} %`)
    })
    request.addEventListener('error', () => reject(new Error('the connection was lost')))
    request.addEventListener('load', () => {
      const { path, message } = parse(request.responseText)
      if (request.status === 201 && path !== undefined) resolve(path)
      else reject(new Error(message ?? `the server answered ${request.status}`))
    })
    request.send(file)
  })
}

function parse(text: string): { path?: string; message?: string } {
  try {
    return JSON.parse(text) as { path?: string; message?: string }
  } catch {
    return {}
  }
}
