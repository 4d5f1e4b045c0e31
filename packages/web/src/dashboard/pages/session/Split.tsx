// Two halves beside each other, with a bar between them that can be moved; on phones, one below the other.
import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'

const MIN = 20
const MAX = 80
const STEP = 4

/** In percent; the same for all sessions until the page is loaded again. */
let lastShare = 46

export interface SplitProps {
  readonly label: string
  readonly first: ReactNode
  readonly second: ReactNode
}

export function Split({ label, first, second }: SplitProps) {
  const box = useRef<HTMLDivElement>(null)
  const [share, setShare] = useState(lastShare)
  const [isMoving, setMoving] = useState(false)
  const move = (to: number) => {
    lastShare = Math.min(Math.max(to, MIN), MAX)
    setShare(lastShare)
  }
  const onPointerMove = (event: PointerEvent) => {
    const place = box.current?.getBoundingClientRect()
    if (isMoving && place) move(((event.clientX - place.left) / place.width) * 100)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: share - STEP,
      ArrowRight: share + STEP,
      Home: MIN,
      End: MAX,
    }
    const to = steps[event.key]
    if (to === undefined) return
    event.preventDefault()
    move(to)
  }
  return (
    <div
      className="split"
      ref={box}
      data-moving={isMoving}
      style={{ '--share': `${share}%` } as React.CSSProperties}
    >
      <div className="split-first">{first}</div>
      <div
        className="split-bar"
        role="separator"
        aria-label={label}
        aria-orientation="vertical"
        aria-valuenow={Math.round(share)}
        aria-valuemin={MIN}
        aria-valuemax={MAX}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setMoving(true)
        }}
        onPointerMove={onPointerMove}
        onLostPointerCapture={() => setMoving(false)}
      />
      <div className="split-second">{second}</div>
    </div>
  )
}
