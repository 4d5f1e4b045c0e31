import type { CreatedApiKey } from '@berth/contracts/api-keys'
import { CopyButton } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/Dialog.tsx'

/** The only time that anybody sees the whole key. */
export function NewKey({ created, onClose }: { created: CreatedApiKey; onClose: () => void }) {
  return (
    <Dialog
      title={`The key ${created.name}`}
      text="Copy it now. It is not shown again, and nobody can read it from Berth."
      isOpen
      onClose={onClose}
    >
      <p className="secret">
        <code>{created.key}</code>
        <CopyButton text={created.key ?? ''} label="Copy the key" />
      </p>
      <footer>
        <button type="button" className="primary" onClick={onClose}>
          I have it
        </button>
      </footer>
    </Dialog>
  )
}
