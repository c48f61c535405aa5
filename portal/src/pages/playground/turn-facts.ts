// The facts of an answer beside its joules. Its joules by token are those of the words that came: the list of models has
// those of prompt and answer together.
import { energyShort, power } from '#console/figures/energy.ts'
import { rateOf, type Turn } from './turn.ts'

export type TurnFact = readonly [name: string, value: string | undefined]

export function turnFacts(turn: Turn): readonly TurnFact[] {
  const { tokens, tokensMax, startedMs, endedMs, points, nj, ceilingNj } = turn
  const lastMs = endedMs ?? points.at(-1)?.atMs
  const perS = lastMs === undefined ? undefined : Math.round(tokens / ((lastMs - startedMs) / 1000))
  const rate = endedMs === undefined ? rateOf(turn) : undefined
  return [
    ['Now', rate === undefined ? undefined : power(rate)],
    ['Ceiling', ceilingNj === undefined ? undefined : energyShort(ceilingNj)],
    [
      'Tokens written',
      `${tokens} of at most ${tokensMax}${perS === undefined ? '' : `, ${perS} a second`}`,
    ],
    [
      'Each token written',
      nj === undefined || tokens === 0 ? undefined : energyShort(nj / BigInt(tokens)),
    ],
  ]
}
