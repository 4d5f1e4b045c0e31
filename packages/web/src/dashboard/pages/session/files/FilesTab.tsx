// The files of the session as a tree. Folders are read when they are opened.
import { useRef, useState, type ChangeEvent } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../../api/context.ts'
import { Confirm } from '../../../parts/Dialog.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { Menu } from '../../../parts/Menu.tsx'
import { pathOf, useSession } from '../session.ts'
import { FileEditor } from './FileEditor.tsx'
import { chosen, readDrop, type Dropped } from './dropped.ts'
import { type FileEntry, parentOf } from './file-calls.ts'
import { Folder } from './Folder.tsx'
import { NewNameDialog, type NameTask } from './NewNameDialog.tsx'
import { UploadList, useUploads } from './uploads.tsx'
import './files.css'

const HOME = '/home/kernel'

export default function FilesTab() {
  const session = useSession()
  const { client } = useApi()
  const { folder, file } = useSearch({ strict: false }) as { folder?: string; file?: string }
  const root = typeof folder === 'string' && folder.startsWith('/') ? folder : HOME
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [task, setTask] = useState<NameTask>()
  const [doomed, setDoomed] = useState<FileEntry>()
  const read = () => queries.invalidateQueries({ queryKey: ['session_files', session.session_id] })
  const uploads = useUploads(() => void read())
  const show = (part: { folder?: string; file?: string | undefined }) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, ...part }) })
  return (
    <div className="files">
      <div className="tab-bar">
        <nav className="path" aria-label="Folder">
          <button type="button" className="plain" onClick={() => show({ folder: '/' })}>
            /
          </button>
          {root
            .split('/')
            .filter((name) => name !== '')
            .map((name, index, all) => (
              <button
                key={`${index} ${name}`}
                type="button"
                className="plain"
                onClick={() => show({ folder: `/${all.slice(0, index + 1).join('/')}` })}
              >
                {name} /
              </button>
            ))}
        </nav>
        <span className="spacer" />
        <UploadMenu onFiles={(files) => uploads.add(root, files)} />
        <button type="button" onClick={() => setTask({ kind: 'file', folder: root })}>
          New file
        </button>
        <button type="button" onClick={() => setTask({ kind: 'folder', folder: root })}>
          New folder
        </button>
        <a
          className="button"
          href={pathOf(session, `/fs/download_dir_zip?path=${encodeURIComponent(root)}`)}
          download={`${root.split('/').pop() || 'root'}.zip`}
        >
          <Icon name="download" size={15} /> Zip
        </a>
      </div>
      <UploadList uploads={uploads} />
      <div
        className="file-tree"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault()
          uploads.add(root, readDrop(event.dataTransfer))
        }}
      >
        <ul role="tree" aria-label={`Files of ${root}`}>
          <Folder
            path={root}
            level={1}
            acts={{
              open: (entry) => show({ file: entry.path }),
              rename: (entry) => setTask({ kind: 'rename', folder: parentOf(entry.path), entry }),
              remove: setDoomed,
              enter: (entry) => show({ folder: entry.path }),
              create: (entry, kind) => setTask({ kind, folder: entry.path }),
              upload: (entry, files) => uploads.add(entry.path, files),
            }}
          />
        </ul>
        <p className="quiet drop-hint">Drop files and folders here, or on a folder, to upload them.</p>
      </div>
      {task && <NewNameDialog task={task} onClose={() => setTask(undefined)} onDone={() => void read()} />}
      <Confirm
        title={doomed?.is_dir === true ? 'Delete the folder' : 'Delete the file'}
        text={`${doomed?.path ?? ''} ${doomed?.is_dir === true ? 'and everything in it ' : ''}will be gone for good.`}
        action="Delete"
        isOpen={doomed !== undefined}
        onClose={() => setDoomed(undefined)}
        onConfirm={async () => {
          const { path, is_dir: isFolder } = doomed!
          if (isFolder) await client.browsers.fs.deleteDirectory(session.session_id, { path })
          else await client.browsers.fs.deleteFile(session.session_id, { path })
          await read()
        }}
      />
      {typeof file === 'string' && (
        <FileEditor
          key={file}
          path={file}
          onClose={() => show({ file: undefined })}
          onSaved={() => void read()}
        />
      )}
    </div>
  )
}

function UploadMenu({ onFiles }: { onFiles: (files: readonly Dropped[]) => void }) {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const field = {
    className: 'unseen',
    type: 'file',
    multiple: true,
    tabIndex: -1,
    onChange: ({ target }: ChangeEvent<HTMLInputElement>) => {
      onFiles(chosen(target.files))
      target.value = ''
    },
  }
  return (
    <>
      <input {...field} ref={files} aria-label="Files to upload" />
      <input
        {...field}
        ref={(element) => {
          folder.current = element
          if (element) element.webkitdirectory = true
        }}
        aria-label="Folder to upload"
      />
      <Menu
        label="Files or a folder"
        items={[
          { text: 'Files', icon: 'file', onSelect: () => files.current?.click() },
          { text: 'A folder', icon: 'folder', onSelect: () => folder.current?.click() },
        ]}
      >
        <Icon name="upload" size={15} /> Upload
      </Menu>
    </>
  )
}
