// The seal of a receipt: 32 rays whose lengths are the bytes of its leaf hash. The same charge has the same seal
// everywhere.
const RAYS = 32
const BYTE_MAX = 255
const HEX_SHOWN = 8

type Ring = {
  readonly centre: number
  readonly inner: number
  readonly reach: number
  readonly step: number
}
const LARGE: Ring = { centre: 64, inner: 38, reach: 24, step: 1 }
const SMALL: Ring = { centre: 16, inner: 7, reach: 7.5, step: 2 }

/** For lists: every second ray, no arcs. */
export const SmallSeal = ({ hash }: { readonly hash: string | undefined }) => (
  <svg className="seal" width="22" height="22" viewBox="0 0 32 32" fill="none" aria-hidden="true">
    <path
      d={rays(hash, SMALL)}
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      {...(hash === undefined && { strokeDasharray: '1 2' })}
    />
  </svg>
)

/** For a receipt: `signed` of `signers` arcs are heavy. Without a hash it is being signed: thin broken rays. */
export function Seal(props: {
  readonly hash: string | undefined
  readonly signers: number
  readonly signed: number
}) {
  const { hash, signers, signed } = props
  const isPending = hash === undefined
  const label = isPending ? 'Being signed' : `Seal ${hash.slice(0, HEX_SHOWN)}`
  return (
    <svg
      className={isPending ? 'seal pending' : 'seal'}
      viewBox="0 0 128 128"
      fill="none"
      stroke="currentColor"
      role="img"
      aria-label={label}
    >
      <path
        d={rays(hash, LARGE)}
        strokeWidth={isPending ? 1.2 : 2.6}
        strokeLinecap="round"
        {...(isPending && { strokeDasharray: '2 3' })}
      />
      {Array.from({ length: signers }, (_, nth) => (
        <path key={nth} d={arc(nth, signers)} strokeWidth={!isPending && nth < signed ? 5 : 1.5} />
      ))}
      {hash !== undefined && (
        <g stroke="none" textAnchor="middle">
          <text x="64" y="62">
            {hash.slice(0, 4)}
          </text>
          <text x="64" y="75">
            {hash.slice(4, HEX_SHOWN)}
          </text>
        </g>
      )}
    </svg>
  )
}

/** One path of all rays. Without a hash all have half the length. */
function rays(hash: string | undefined, { centre, inner, reach, step }: Ring): string {
  const parts: string[] = []
  for (let nth = 0; nth < RAYS; nth += step) {
    const byte =
      hash === undefined ? BYTE_MAX / 2 : Number.parseInt(hash.slice(nth * 2, nth * 2 + 2), 16)
    const outer = inner + 1 + (byte / BYTE_MAX) * reach
    parts.push(`M${point(nth / RAYS, inner, centre)}L${point(nth / RAYS, outer, centre)}`)
  }
  return parts.join('')
}

/** The arc of a signer, with a gap to the next. */
function arc(nth: number, of: number): string {
  const gap = 0.014
  const [from, to] = [nth / of + gap, (nth + 1) / of - gap]
  return `M${point(from, 30, 64)}A30 30 0 0 1 ${point(to, 30, 64)}`
}

/** A point at a part of the turn, from the top and clockwise. */
function point(turn: number, radius: number, centre: number): string {
  const angle = turn * 2 * Math.PI
  const x = centre + radius * Math.sin(angle)
  const y = centre - radius * Math.cos(angle)
  return `${x.toFixed(1)} ${y.toFixed(1)}`
}
