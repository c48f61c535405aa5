// The 90 days of a part as inline SVG: a low bar is a day without trouble, so trouble stands out. Height and colour
// say the same. Days of one state are one path: a part takes 2 KB and not 6.
import { markup, NOTHING, type Markup } from './html.ts'
import type { ShownPart } from './document.ts'

const STEP = 8
const WIDTH = 5
const HEIGHT = 26
/** Height of a bar by its state; hollow without data. */
const BARS = { ok: 7, degraded: 16, down: 26, unknown: 7 } as const

/** `label` is the text that a screen reader speaks in place of the picture. */
export function daysPicture({ days }: Pick<ShownPart, 'days'>, label: string): Markup {
  const paths = (Object.keys(BARS) as (keyof typeof BARS)[]).map((state) => {
    const at = days.flatMap((one, index) => ((one.state ?? 'unknown') === state ? [index] : []))
    if (at.length === 0) return NOTHING
    // A stroke is drawn on both sides of its line.
    const inset = state === 'unknown' ? 0.5 : 0
    const height = BARS[state]
    const top = (HEIGHT - height) / 2 + inset
    const [width, tall] = [WIDTH - 2 * inset, height - 2 * inset]
    const outline = at
      .map((index) => `M${index * STEP + inset} ${top}h${width}v${tall}h-${width}z`)
      .join('')
    return markup`<path class="bar-${state}" d="${outline}"/>`
  })
  const wide = (days.length - 1) * STEP + WIDTH
  return markup`<svg viewBox="0 0 ${wide} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${paths}</svg>`
}
