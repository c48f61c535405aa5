// The strip: a long mark passes for each joule, so its speed is the power. Grey and still where nothing is known.
import { useEffect, useRef } from 'react'
import { power } from '#console/figures/energy.ts'

/** Width of a joule on the strip, as in marks.css. */
const JOULE_PX = { wide: 240, slim: 120 }
/** Above this power a mark stands for ten times as much, and again. */
const MARK_W_MAX = 20
const NJ_PER_J = 1e9
const SECOND_MS = 1000

/** The energy that a long mark stands for, in joules. */
export function markJoules(njPerS: bigint): number {
  const watts = Number(njPerS) / NJ_PER_J
  return watts <= MARK_W_MAX ? 1 : watts <= MARK_W_MAX * 10 ? 10 : 100
}

/** `njPerS` undefined: still. `moved`: the strip passes so much once, within a second, and rests there. */
export function Strip(props: {
  readonly njPerS: bigint | undefined
  readonly isSlim?: boolean
  readonly moved?: bigint
}) {
  const { njPerS, isSlim = false, moved } = props
  const marks = useRef<HTMLDivElement>(null)
  const rate = njPerS === undefined ? 0 : Number(njPerS) / NJ_PER_J / markJoules(njPerS)
  const joulePx = isSlim ? JOULE_PX.slim : JOULE_PX.wide
  useMarks(marks, rate, joulePx)
  useMove(marks, moved, joulePx)
  const label = njPerS === undefined ? 'No power is known' : `${power(njPerS)} now`
  const names = ['strip', ...(isSlim ? ['slim'] : []), ...(njPerS === undefined ? ['still'] : [])]
  return (
    <div className={names.join(' ')} role="img" aria-label={label}>
      <div className="marks" ref={marks} />
    </div>
  )
}

function useMove(marks: Marks, moved: bigint | undefined, joulePx: number): void {
  useEffect(() => {
    if (moved === undefined) return
    const px = (Number(moved) / NJ_PER_J / markJoules(moved)) * joulePx
    marks.current?.animate([{ translate: 'none' }, { translate: `${-px}px 0` }], {
      duration: isStill() ? 0 : SECOND_MS,
      easing: 'cubic-bezier(.2, 0, 0, 1)',
      fill: 'forwards',
    })
  }, [marks, moved, joulePx])
}

/** The reader has asked for no motion. Animations of scripts do not follow the style sheet. */
const isStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

type Marks = React.RefObject<HTMLDivElement | null>

/** Moves the marks by so many joules a second. The rate changes in place: the marks never jump back. */
function useMarks(marks: Marks, rate: number, joulePx: number): void {
  const animation = useRef<Animation>(undefined)
  useEffect(() => {
    const made = marks.current?.animate(
      [{ transform: 'none' }, { transform: `translateX(${-joulePx}px)` }],
      { duration: SECOND_MS, iterations: Infinity },
    )
    made?.pause()
    animation.current = made
    return () => made?.cancel()
  }, [marks, joulePx])
  useEffect(() => {
    const made = animation.current
    if (made === undefined) return undefined
    if (!isStill()) {
      if (rate === 0) made.pause()
      else {
        made.play()
        made.updatePlaybackRate(rate)
      }
      return undefined
    }
    const jump = () => {
      made.currentTime = Number(made.currentTime ?? 0) + rate * SECOND_MS
    }
    const timer = setInterval(jump, SECOND_MS)
    return () => clearInterval(timer)
  }, [rate, joulePx])
}
