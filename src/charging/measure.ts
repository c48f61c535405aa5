// The use of a spend so far, in CPU time of this node and in joules of upstreams.
import { invariant } from '#base/errors.ts'
import { add, energyOfCpu, larger, nj, smaller, subtract, type Nj } from '#base/units.ts'
import { LEARNED, type ChargePart } from '#contract/ledger/charge.ts'
import { NOTHING_BILLED, type Billed } from '#metering/true-up.ts'
import type { Indirect } from './indirect.ts'
import type { Claim } from './spend.ts'
import type { GpuTariff, Tariff } from './tariff.ts'

type UpstreamUse = Extract<Claim, { kind: 'upstream' }>

/** The use of failed answers, which the operator absorbs. */
type Absorbed = {
  cellsNs: bigint
  cellsNj: Nj
  gpuNs: bigint
  gpuNj: Nj
  readonly upstreams: Map<string, UpstreamUse>
}
type CellClaim = { readonly cpuNs: bigint; readonly gpuNs: bigint }

const NO_USE: CellClaim = { cpuNs: 0n, gpuNs: 0n }

/** The energy of the node and of its GPU, as far as a hold pays for both. */
type BilledShares = { readonly nodeNj: Nj; readonly gpuNj: Nj }

const NOTHING_SHARED: BilledShares = { nodeNj: nj(0n), gpuNj: nj(0n) }

export class Measure {
  /** CPU that marks gave to this spend; a double, because it is written on the hot path. */
  cpuNs = 0
  readonly #cells = new Map<string, CellClaim>()
  readonly #upstreams = new Map<string, UpstreamUse>()
  /** None as a rule. */
  #absorbed: Absorbed | undefined
  // Their sums, kept: a stream asks for its energy at every token.
  #cellsNs = 0n
  #gpuNs = 0n
  #upstreamsNj = nj(0n)
  /** The shares that were last reported. */
  #billed: BilledShares = NOTHING_SHARED

  /**
   * Cumulative figures: the last one of each cell and meter counts. CPU never falls; the declared usage of an upstream
   * may be less than our count.
   */
  claim(used: Claim): void {
    if (used.kind === 'cpu') {
      const { cell, cpuNs, gpuNs = 0n } = used
      const before = this.#cells.get(cell) ?? NO_USE
      invariant(cpuNs >= before.cpuNs && gpuNs >= before.gpuNs, `a claim of cell ${cell} fell`)
      this.#cells.set(cell, { cpuNs, gpuNs })
      this.#cellsNs += cpuNs - before.cpuNs
      this.#gpuNs += gpuNs - before.gpuNs
      return
    }
    const key = keyOfUpstream(used)
    const before = this.#upstreams.get(key)?.energyNj ?? nj(0n)
    invariant(used.energyNj >= 0n, `a claim of meter ${used.meter} is negative`)
    this.#upstreams.set(key, used)
    this.#upstreamsNj = subtract(add(this.#upstreamsNj, used.energyNj), before)
  }

  /** All that was claimed until now becomes the operator's; says whether there was any. */
  absorb(tariff: Tariff): boolean {
    if (this.#upstreams.size === 0 && this.#cells.size === 0) return false
    const absorbed = (this.#absorbed ??= {
      cellsNs: 0n,
      cellsNj: nj(0n),
      gpuNs: 0n,
      gpuNj: nj(0n),
      upstreams: new Map(),
    })
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
    absorbed.gpuNs += this.#gpuNs
    absorbed.gpuNj = add(absorbed.gpuNj, this.gpuEnergy(tariff))
    this.#gpuNs = 0n
    this.#billed = NOTHING_SHARED
    return true
  }

  totalCpuNs(): bigint {
    return BigInt(Math.round(this.cpuNs)) + this.#cellsNs
  }

  /** Energy of the CPU time on this node. */
  nodeEnergy(tariff: Tariff): Nj {
    return energyOfCpu(this.totalCpuNs(), tariff.njPerCpuS)
  }

  /** Time of steps on the GPU. */
  get gpuNs(): bigint {
    return this.#gpuNs
  }

  /** Energy of the steps on the GPU; nothing where the GPU has no meter. */
  gpuEnergy({ gpu }: Tariff): Nj {
    return gpu === undefined ? nj(0n) : energyOfCpu(this.#gpuNs, gpu.njPerGpuS)
  }

  /** Energy of cells and upstreams, without the CPU of this process. */
  claimedEnergy(tariff: Tariff): Nj {
    const cellsNj = energyOfCpu(this.#cellsNs, tariff.njPerCpuS)
    return add(add(cellsNj, this.gpuEnergy(tariff)), this.#upstreamsNj)
  }

  energy(tariff: Tariff): Nj {
    return add(add(this.nodeEnergy(tariff), this.gpuEnergy(tariff)), this.#upstreamsNj)
  }

  /**
   * Together at most `limit`, the node's first, and none less than before: at the limit further CPU takes nothing from
   * the GPU's. The meters' true-ups want totals that never fall.
   */
  billed(tariff: Tariff, limit: Nj): BilledShares {
    const { nodeNj: leastNodeNj, gpuNj: leastGpuNj } = this.#billed
    const rest = (taken: Nj) => subtract(limit, smaller(limit, taken))
    const nodeNj = larger(leastNodeNj, smaller(this.nodeEnergy(tariff), rest(leastGpuNj)))
    const gpuNj = larger(leastGpuNj, smaller(this.gpuEnergy(tariff), rest(nodeNj)))
    return (this.#billed = { nodeNj, gpuNj })
  }

  /**
   * The parts of a charge, together at most `limit`: the node's part first, then its GPU's, then the upstreams in the
   * order of their names, last the indirect CPU. The operator pays the rest.
   */
  parts(tariff: Tariff, extra: { tailNs: bigint; indirect: Indirect }, limit: Nj): ChargePart[] {
    let left = limit
    const take = (energy: Nj): Nj => {
      const taken = smaller(energy, left)
      left = subtract(left, taken)
      return taken
    }
    const nodeNj = this.nodeEnergy(tariff)
    const withTailNj = energyOfCpu(this.totalCpuNs() + extra.tailNs, tariff.njPerCpuS)
    const billed = this.billed(tariff, limit)
    const spentNj = take(billed.nodeNj)
    // Before the tail, which comes last in time: the GPU's bill may not fall when a spend settles at its limit.
    const gpuNj = take(billed.gpuNj)
    const tailNj = take(subtract(withTailNj, nodeNj))
    const parts = [nodePart(tariff, add(spentNj, tailNj).toString())]
    const { gpu } = tariff
    if (gpu !== undefined && this.#gpuNs > 0n) parts.push(gpuPart(gpu, gpuNj.toString()))
    for (const one of byName(this.#upstreams))
      parts.push(upstreamPart(one, take(one.energyNj).toString()))
    const { cpuNs, bandPct } = extra.indirect
    const indirectNj = take(energyOfCpu(cpuNs, tariff.njPerCpuS))
    if (indirectNj > 0n) parts.push(indirectPart(tariff, bandPct, indirectNj.toString()))
    return parts
  }

  /** CPU of cells of this node that the operator absorbs. */
  get absorbedCells(): Billed {
    if (this.#absorbed === undefined) return NOTHING_BILLED
    return { chargedNs: this.#absorbed.cellsNs, accruedNj: this.#absorbed.cellsNj }
  }

  /** Time of steps on the GPU that the operator absorbs. */
  get absorbedGpu(): Billed {
    if (this.#absorbed === undefined) return NOTHING_BILLED
    return { chargedNs: this.#absorbed.gpuNs, accruedNj: this.#absorbed.gpuNj }
  }

  /** The parts that the operator absorbs: the node's, its GPU's, then by meter; none as a rule. */
  absorbedParts(tariff: Tariff): ChargePart[] {
    if (this.#absorbed === undefined) return []
    const { cellsNj, gpuNj, upstreams } = this.#absorbed
    const parts = byName(upstreams).map((one) => upstreamPart(one, one.energyNj.toString()))
    const { gpu } = tariff
    if (gpu !== undefined && gpuNj > 0n) parts.unshift(gpuPart(gpu, gpuNj.toString()))
    return cellsNj === 0n ? parts : [nodePart(tariff, cellsNj.toString()), ...parts]
  }
}

/** Idle energy of a meter is cumulative by itself, and comes right behind the meter's other energy. */
export const keyOfUpstream = ({ meter, idle }: Pick<UpstreamUse, 'meter' | 'idle'>): string =>
  idle === true ? `${meter} idle` : meter
const byName = (upstreams: ReadonlyMap<string, UpstreamUse>) =>
  [...upstreams].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)

export const nodePart = (tariff: Tariff, energyNj: string): ChargePart => ({
  band_pct: tariff.bandPct,
  energy_nj: energyNj,
  meter: tariff.meter,
  method: tariff.method,
})

const gpuPart = ({ meter, method, bandPct }: GpuTariff, energyNj: string): ChargePart => ({
  band_pct: String(bandPct),
  energy_nj: energyNj,
  meter,
  method,
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
