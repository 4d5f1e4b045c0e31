// What one run returned, printed, or failed with.
import { Badge } from '../../../parts/Badge.tsx'
import { CopyButton } from '../../../parts/Copy.tsx'
import { Tree } from '../../../parts/Tree.tsx'

export interface Run {
  readonly key: number
  readonly code: string
  readonly ms: number
  readonly answer: {
    readonly success: boolean
    readonly result?: unknown
    readonly error?: string
    readonly stdout?: string
    readonly stderr?: string
  }
}

export interface RunResultProps {
  readonly run: Run
  readonly about: string
  readonly isOpen: boolean
  readonly onReuse: () => void
}

export function RunResult({ run, about, isOpen, onReuse }: RunResultProps) {
  const { success, result, error, stdout = '', stderr = '' } = run.answer
  const line = error === undefined ? undefined : lineOf(`${error}\n${stderr}`)
  return (
    <details className="run" open={isOpen}>
      <summary>
        <Badge tone={success ? 'good' : 'bad'}>{success ? 'Returned' : 'Failed'}</Badge>
        <small className="quiet number">{about}</small>
        <code>{run.code.trim().split('\n')[0]}</code>
      </summary>
      <div className="run-body">
        {error !== undefined && (
          <pre className="bad">
            {line === undefined ? '' : `Line ${line}: `}
            {error}
          </pre>
        )}
        {success && (typeof result === 'string' ? <pre>{result}</pre> : <Tree value={result ?? null} />)}
        {stdout !== '' && <pre aria-label="Standard output">{stdout}</pre>}
        {stderr !== '' && (
          <pre className="warn" aria-label="Standard error">
            {stderr}
          </pre>
        )}
        <p>
          <button type="button" onClick={onReuse}>
            Edit this code
          </button>
          <CopyButton
            label="Copy the result"
            text={() =>
              error ?? (typeof result === 'string' ? result : JSON.stringify(result ?? null, null, 2))
            }
          />
        </p>
      </div>
    </details>
  )
}

/** Where in the code it failed, as the stack says it. */
function lineOf(text: string): string | undefined {
  return /(?:code|user-code|playwright)[^\s:()]*:(\d+)(?::\d+)?/.exec(text)?.[1]
}
