// Why a session ended, and what to do about it.
import type { EndReason } from '@berth/contracts/browsers'
import type { Tone } from '../../parts/Badge.tsx'

interface Words {
  readonly title: string
  readonly remedy?: string
  readonly tone: Tone
}

export const endWords: Readonly<Record<EndReason, Words>> = {
  deleted: { title: 'Somebody ended it', tone: 'quiet' },
  released: { title: 'It was released to its pool, which ended it', tone: 'quiet' },
  timed_out: {
    title: 'Nobody used it for as long as its timeout',
    remedy: 'If your work pauses for longer, create the session with a larger timeout_seconds.',
    tone: 'warn',
  },
  crashed: {
    title: 'Its sandbox or its browser crashed',
    remedy:
      'Create it again. If it crashes at the same place, look at the last events, and give it more memory if the pages are large.',
    tone: 'bad',
  },
  out_of_memory: {
    title: 'It used more memory than a session may',
    remedy: 'Close tabs that are done, or create the session with more memory, such as memory: "8GiB".',
    tone: 'bad',
  },
  start_failed: {
    title: 'It could not start',
    remedy: 'Create it again. If that fails, the log of the server has the reason.',
    tone: 'bad',
  },
  server_stopped: {
    title: 'The server was stopped for good',
    remedy: 'Sessions survive a restart, but not a stop that ends them. Create it again.',
    tone: 'warn',
  },
  lost: {
    title: 'Its server was away for too long',
    remedy: 'Create it again. The log of that server, or its host, says why it was away.',
    tone: 'bad',
  },
}
