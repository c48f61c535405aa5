// The most that a running spend may cost, and how well that is known: for the head of its answer.
import { LEARNED, type EnergyBand } from '#contract/ledger/charge.ts'
import type { OperationName } from '#contract/operations.ts'
import { fixedTier } from './compose-charge.ts'
import type { Hold } from './hold.ts'
import type { Estimate, Served } from './spend.ts'

/** Its method and band are the worst of those that its energy may have, and so is its factor. */
export function estimateOf(
  { ceilingNj, terms: { tariff } }: Pick<Hold, 'ceilingNj' | 'terms'>,
  {
    operation,
    facts,
    learnedPct,
    gpuKnown,
  }: {
    readonly operation: OperationName
    readonly facts: Served
    /** The band of the energy in shared cells. */
    readonly learnedPct: number
    /** Method and band of its energy on the GPU, where it used that. */
    readonly gpuKnown: EnergyBand | undefined
  },
): Estimate {
  const node = { method: tariff.method, bandPct: Number(tariff.bandPct) }
  const { upstream = node } = facts
  const learned = { method: LEARNED, bandPct: learnedPct } as const
  const { method, bandPct } = [gpuKnown ?? node, upstream, learned].reduce(
    (a, b) => (b.bandPct > a.bandPct ? b : a),
    node,
  )
  const elsewhere = facts.upstream?.factor ?? tariff.factor
  const isWorse = BigInt(elsewhere.mg_per_kwh) > BigInt(tariff.factor.mg_per_kwh)
  return {
    ceilingNj,
    factor: isWorse ? elsewhere : tariff.factor,
    routedTo: facts.routedTo ?? tariff.routedTo,
    tier: facts.tier ?? fixedTier(operation),
    energyMethod: `${method}; band=${bandPct}%`,
  }
}
