// The use of a spend so far, in CPU time of this node and in joules of upstreams.
import { invariant } from '#base/errors.ts'
import { add, energyOfCpu, nj, smaller, subtract, type Nj } from '#base/units.ts'
import { LEARNED, type ChargePart } from '#contract/charge.ts'
import { NOTHING_BILLED, type Billed } from '#metering/true-up.ts'
import type { Indirect } from './indirect.ts'
import type { Claim } from './spend.ts'
import type { Tariff } from './tariff.ts'

type UpstreamUse = Extract<Claim, { kind: 'upstream' }>

/** The use of failed answers, which the operator absorbs. */
type Absorbed = { cellsNs: bigint; cellsNj: Nj; readonly upstreams: Map<string, UpstreamUse> }

export class Measure {
  /** CPU that marks gave to this spend; a double, because it is written on the hot path. */
  cpuNs = 0
  readonly #cells = new Map<string, bigint>()
  readonly #upstreams = new Map<string, UpstreamUse>()
  /** None as a rule. */
  #absorbed: Absorbed | undefined
  // Their sums, kept: a stream asks for its energy at every token.
  #cellsNs = 0n
  #upstreamsNj = nj(0n)

  /**
   * Cumulative figures: the last one of each cell and meter counts. CPU never falls; the declared usage of an upstream
   * may be less than our count.
   */
  claim(used: Claim): void {
    if (used.kind === 'cpu') {
      const before = this.#cells.get(used.cell) ?? 0n
      invariant(used.cpuNs >= before, `a claim of cell ${used.cell} fell`)
      this.#cells.set(used.cell, used.cpuNs)
      this.#cellsNs += used.cpuNs - before
      return
    }
    const key = keyOf(used)
    const before = this.#upstreams.get(key)?.energyNj ?? nj(0n)
    invariant(used.energyNj >= 0n, `a claim of meter ${used.meter} is negative`)
    this.#upstreams.set(key, used)
    this.#upstreamsNj = subtract(add(this.#upstreamsNj, used.energyNj), before)
  }

  /** All that was claimed until now becomes the operator's; says whether there was any. */
  absorb(tariff: Tariff): boolean {
    if (this.#upstreams.size === 0 && this.#cells.size === 0) return false
    const absorbed = (this.#absorbed ??= { cellsNs: 0n, cellsNj: nj(0n), upstreams: new Map() })
    for (const [key, one] of this.#upstreams) {
      const before = absorbed.upstreams.get(key)?.energyNj ?? nj(0n)
      absorbed.upstreams.set(key, { ...one, energyNj: add(before, one.energyNj) })
    }
    this.#upstreams.clear()
    this.#upstreamsNj = nj(0n)
    const nodeNj = this.nodeEnergy(tariff)
    absorbed.cellsNs += this.#cellsNs
    this.#cells.clear()
    this.#cellsNs = 0n
    // Remainder and absorbed part add up to the use before, to the nanojoule: no billed figure may fall.
    absorbed.cellsNj = add(absorbed.cellsNj, subtract(nodeNj, this.nodeEnergy(tariff)))
    return true
  }

  totalCpuNs(): bigint {
    return BigInt(Math.round(this.cpuNs)) + this.#cellsNs
  }

  /** Energy of the CPU time on this node. */
  nodeEnergy(tariff: Tariff): Nj {
    return energyOfCpu(this.totalCpuNs(), tariff.njPerCpuS)
  }

  /** Energy of cells and upstreams, without the CPU of this process. */
  claimedEnergy(tariff: Tariff): Nj {
    return add(energyOfCpu(this.#cellsNs, tariff.njPerCpuS), this.#upstreamsNj)
  }

  energy(tariff: Tariff): Nj {
    return add(this.nodeEnergy(tariff), this.#upstreamsNj)
  }

  /**
   * The parts of a charge, together at most `limit`: the node's part first, then the upstreams in the
   * order of their names, last the indirect CPU. The operator pays the rest.
   */
  parts(tariff: Tariff, extra: { tailNs: bigint; indirect: Indirect }, limit: Nj): ChargePart[] {
    let left = limit
    const take = (energy: Nj): string => {
      const taken = smaller(energy, left)
      left = subtract(left, taken)
      return taken.toString()
    }
    const own = energyOfCpu(this.totalCpuNs() + extra.tailNs, tariff.njPerCpuS)
    const parts = [nodePart(tariff, take(own))]
    for (const one of byName(this.#upstreams)) parts.push(upstreamPart(one, take(one.energyNj)))
    const { cpuNs, bandPct } = extra.indirect
    const indirectNj = take(energyOfCpu(cpuNs, tariff.njPerCpuS))
    if (indirectNj !== '0') parts.push(indirectPart(tariff, bandPct, indirectNj))
    return parts
  }

  /** CPU of cells of this node that the operator absorbs. */
  get absorbedCells(): Billed {
    if (this.#absorbed === undefined) return NOTHING_BILLED
    return { chargedNs: this.#absorbed.cellsNs, accruedNj: this.#absorbed.cellsNj }
  }

  /** The parts that the operator absorbs: the node's, then by meter; none as a rule. */
  absorbedParts(tariff: Tariff): ChargePart[] {
    if (this.#absorbed === undefined) return []
    const { cellsNj, upstreams } = this.#absorbed
    const parts = byName(upstreams).map((one) => upstreamPart(one, one.energyNj.toString()))
    return cellsNj === 0n ? parts : [nodePart(tariff, cellsNj.toString()), ...parts]
  }
}

/** The idle energy of a meter comes right behind its other energy. */
const keyOf = ({ meter, idle }: UpstreamUse) => (idle === true ? `${meter} idle` : meter)
const byName = (upstreams: ReadonlyMap<string, UpstreamUse>) =>
  [...upstreams].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)

export const nodePart = (tariff: Tariff, energyNj: string): ChargePart => ({
  band_pct: tariff.bandPct,
  energy_nj: energyNj,
  meter: tariff.meter,
  method: tariff.method,
})

const indirectPart = (tariff: Tariff, bandPct: number, energyNj: string): ChargePart => ({
  band_pct: String(bandPct),
  energy_nj: energyNj,
  meter: tariff.meter,
  method: LEARNED,
})

const upstreamPart = (one: UpstreamUse, energyNj: string): ChargePart => ({
  band_pct: String(one.bandPct),
  energy_nj: energyNj,
  meter: one.meter,
  method: one.method,
  ...(one.factor !== undefined && { factor: one.factor }),
  ...(one.idle === true && { idle: true }),
})
