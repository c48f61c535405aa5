// Joules over tokens, towards the ceiling at the longest answer.
import { energyShort } from '#console/figures/energy.ts'
import type { Turn } from './turn.ts'

const WIDTH = 344
const TOP = 6
const BOTTOM = 86

export function Ramp({ turn, ceilingNj }: { readonly turn: Turn; readonly ceilingNj: bigint }) {
  const x = (tokens: number) => Math.min(1, tokens / turn.tokensMax) * WIDTH
  const y = (nj: bigint) => BOTTOM - (Number(nj) / Number(ceilingNj)) * (BOTTOM - TOP)
  const points = turn.points.map(({ tokens, nj }) => [x(tokens), y(nj)] as const)
  const [endX, endY] = points.at(-1) ?? [0, BOTTOM]
  const line = points.map(([px, py]) => `L${px.toFixed(1)} ${py.toFixed(1)}`).join('')
  const label = `${energyShort(turn.nj ?? 0n)} of at most ${energyShort(ceilingNj)} after ${turn.tokens} of at most ${turn.tokensMax} tokens`
  return (
    <svg className="ramp" viewBox="0 0 344 92" role="img" aria-label={label}>
      <path className="ceiling" d={`M0 ${TOP}H${WIDTH}`} />
      <path className="rest" d={`M${endX} ${endY}L${WIDTH} ${TOP}`} />
      <path className="used" d={`M0 ${BOTTOM}${line}L${endX} ${BOTTOM}Z`} />
      <path className="zero" d={`M0 ${BOTTOM}H${WIDTH}`} />
      <circle cx={endX} cy={endY} r="4.5" />
      <text x="0" y="22">
        ceiling {energyShort(ceilingNj)}
      </text>
    </svg>
  )
}
