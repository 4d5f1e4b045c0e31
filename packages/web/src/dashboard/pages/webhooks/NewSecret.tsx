import { CopyButton } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/Dialog.tsx'

/** The only time that anybody sees the secret. */
export function NewSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog
      title="The secret of the webhook"
      text="Your receiver verifies requests with it. Copy it now: it is not shown again, and nobody can read it from Berth."
      isOpen
      onClose={onClose}
    >
      <p className="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </p>
      <footer>
        <button type="button" className="primary" onClick={onClose}>
          I have it
        </button>
      </footer>
    </Dialog>
  )
}
