// Runs commands in the session, follows their output, and sends them signals.
import { useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { Badge } from '../../../parts/Badge.tsx'
import { CopyButton } from '../../../parts/Copy.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { ErrorNote } from '../../../parts/Notes.tsx'
import { Time } from '../../../parts/Time.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { useSession } from '../session.ts'
import { usePrograms, type Program } from './use-programs.ts'
import './processes.css'

const signals = ['TERM', 'KILL', 'INT', 'HUP'] as const

export default function ProcessesTab() {
  const session = useSession()
  const { client } = useApi()
  const [programs, list] = usePrograms(client, session.session_id)
  const [command, setCommand] = useState('')
  const [chosen, setChosen] = useState<string>()
  const run = useAct({
    run: (line: string) => programs.start(line),
    onDone: ({ id }) => {
      setChosen(id)
      setCommand('')
    },
  })
  const open = list.find(({ id }) => id === chosen) ?? list[0]
  return (
    <div className="processes">
      <form
        className="tab-bar"
        onSubmit={(event) => {
          event.preventDefault()
          if (command.trim() !== '') run.mutate(command)
        }}
      >
        <input
          className="command"
          aria-label="Command"
          placeholder="ps aux --sort -rss | head -20"
          value={command}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setCommand(target.value)}
        />
        <button type="submit" className="primary" disabled={run.isPending || command.trim() === ''}>
          Run
        </button>
        <button
          type="button"
          disabled={run.isPending}
          onClick={() => run.mutate('ps aux --sort -rss | head -40')}
        >
          List all
        </button>
      </form>
      {list.length > 0 && (
        <ul className="programs" aria-label="Programs started here">
          {list.map((program) => (
            <ProgramRow
              key={program.id}
              program={program}
              isOpen={program === open}
              onOpen={() => setChosen(program.id)}
              onForget={() => programs.forget(program.id)}
            />
          ))}
        </ul>
      )}
      {open ? (
        <>
          {open.error !== undefined && <ErrorNote error={open.error} onRetry={() => programs.resume()} />}
          <pre className="output" tabIndex={0} role="log" aria-label={`Output of ${open.command}`}>
            {open.output === '' ? (open.exitCode === undefined ? '' : 'It printed nothing.') : open.output}
          </pre>
        </>
      ) : (
        <p className="quiet tab-scroll">
          A command runs in bash, as the user kernel, beside the browser. While it runs, the session stays
          alive.
        </p>
      )}
    </div>
  )
}

interface ProgramRowProps {
  readonly program: Program
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onForget: () => void
}

function ProgramRow({ program, isOpen, onOpen, onForget }: ProgramRowProps) {
  const session = useSession()
  const { client } = useApi()
  const { id, pid, command, exitCode, startedAt, output } = program
  const send = useAct({
    run: (signal: (typeof signals)[number]) =>
      client.browsers.process.kill(id, { id: session.session_id, signal }),
    done: (_answer, signal) => `${signal} is sent`,
  })
  return (
    <li data-open={isOpen}>
      <button type="button" className="plain program" aria-pressed={isOpen} onClick={onOpen}>
        {exitCode === undefined ? (
          <Badge tone="accent">running</Badge>
        ) : (
          <Badge tone={exitCode === 0 ? 'good' : 'bad'}>ended with {exitCode}</Badge>
        )}
        <code title={command}>{command}</code>
      </button>
      <span className="quiet number program-about">
        {pid} <Time at={startedAt} />
      </span>
      {exitCode === undefined ? (
        <select
          aria-label={`Send a signal to ${command}`}
          value=""
          onChange={({ target }) => send.mutate(target.value as (typeof signals)[number])}
        >
          <option value="">Signal</option>
          {signals.map((signal) => (
            <option key={signal}>{signal}</option>
          ))}
        </select>
      ) : (
        <>
          <CopyButton text={output} label="Copy the output" />
          <button type="button" className="plain" aria-label={`Forget ${command}`} onClick={onForget}>
            <Icon name="close" size={14} />
          </button>
        </>
      )}
    </li>
  )
}
