// A horizontal drag inside of a drawing.
import { useRef, useState, type PointerEvent } from 'react'

/** A shorter movement is a click. */
const DRAG_PX_MIN = 6

/** `span` is the part under the drag, in the drawing's own pixels. */
export function useDrag(onDragged: (from: number, to: number) => void) {
  const start = useRef<number>(undefined)
  const [span, setSpan] = useState<readonly [number, number]>()
  const at = (event: PointerEvent<SVGSVGElement>) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left
  const end = () => {
    start.current = undefined
    setSpan(undefined)
  }
  const handlers = {
    onPointerDown(event: PointerEvent<SVGSVGElement>) {
      event.currentTarget.setPointerCapture(event.pointerId)
      start.current = at(event)
    },
    onPointerMove(event: PointerEvent<SVGSVGElement>) {
      if (start.current !== undefined) setSpan([start.current, at(event)])
    },
    onPointerUp(event: PointerEvent<SVGSVGElement>) {
      const from = start.current
      if (from !== undefined && Math.abs(at(event) - from) >= DRAG_PX_MIN)
        onDragged(from, at(event))
      end()
    },
    onPointerCancel: end,
  }
  return { handlers, span }
}
