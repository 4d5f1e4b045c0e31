// The current one-time code. It is read when somebody asks, and hidden again when it has ended.
import { useEffect, useState } from 'react'
import { useApi } from '../../api/context.ts'
import { CopyButton } from '../../parts/Copy.tsx'
import { useAct } from '../../parts/use-act.ts'

export function OneTimeCode({ id }: { id: string }) {
  const { client } = useApi()
  const read = useAct({ run: () => client.credentials.totpCode(id) })
  const { data, reset } = read
  const left = useSecondsLeft(data?.expires_at)
  useEffect(() => {
    if (data && left <= 0) reset()
  }, [data, left, reset])
  if (!data || left <= 0) {
    return (
      <div>
        <button type="button" disabled={read.isPending} onClick={() => read.mutate()}>
          Show the current one-time code
        </button>
      </div>
    )
  }
  return (
    <p className="code-now">
      <code>{data.code}</code>
      <CopyButton text={data.code} label="Copy the code" />
      <span className="quiet number">Ends in {left} s</span>
    </p>
  )
}

function useSecondsLeft(until: string | undefined): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (until === undefined) return undefined
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [until])
  return until === undefined ? 0 : Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000))
}
