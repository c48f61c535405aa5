// How a figure is known: its texture with its word, and its band drawn to scale.
import { bandOf, knownWords, type Figure, type How } from '#console/figures/known.ts'
import { energyShort } from '#console/figures/energy.ts'
import { NBSP } from '#console/figures/digits.ts'

/** The texture and the words. */
export const Known = ({ figure }: { readonly figure: How }) => (
  <span className="known">
    <Texture figure={figure} />
    {knownWords(figure)}
  </span>
)

/** The texture alone, its words for screen readers and on hover. */
export const KnownMark = ({ figure }: { readonly figure: How }) => (
  <span title={knownWords(figure)}>
    <Texture figure={figure} />
    <span className="spoken">{knownWords(figure)}</span>
  </span>
)

const Texture = ({ figure: { known } }: { readonly figure: How }) => (
  <span className={`texture ${known}`} aria-hidden="true" />
)

/** From the low to the high end, with a tick at what is billed. A band of ±100 % fills the drawing. */
export function Band({ figure }: { readonly figure: Figure }) {
  const [low, high] = bandOf(figure).map(energyShort)
  const { bandPct } = figure
  if (bandPct === undefined || bandPct === 0 || low === undefined || high === undefined) return null
  const half = (Math.min(bandPct, 100) / 100) * 200
  const [lowDigits, lowUnit] = low.split(NBSP)
  return (
    <span className="band">
      <span>{high.endsWith(lowUnit ?? '') ? lowDigits : low}</span>
      <svg
        viewBox="0 0 400 22"
        preserveAspectRatio="none"
        role="img"
        aria-label={`between ${low} and ${high}`}
      >
        <defs>
          <pattern
            id="band-hatch"
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <path className="hatch" d="M0 0V6" />
          </pattern>
        </defs>
        <path className="rail" d="M0 16.5H400" />
        <rect
          className="range"
          x={200 - half}
          y="5"
          width={half * 2}
          height="11"
          fill="url(#band-hatch)"
        />
        <path className="billed" d="M200 0V22" />
      </svg>
      <span>{high}</span>
    </span>
  )
}
