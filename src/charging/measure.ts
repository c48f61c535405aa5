// The use of a spend so far, in CPU time of this node and in joules of upstreams.
import { invariant } from '#base/errors.ts'
import { add, energyOfCpu, larger, nj, smaller, subtract, sum, type Nj } from '#base/units.ts'
import { LEARNED, type ChargePart, type EnergyBand } from '#contract/ledger/charge.ts'
import { addByCell, NOTHING_BILLED, type Billed, type BilledByCell } from '#metering/true-up.ts'
import { NS_PER_S } from '#metering/power.ts'
import type { Indirect } from './indirect.ts'
import type { Claim } from './spend.ts'
import type { GpuTariff, Tariff } from './tariff.ts'

/** The meter of the GPU, and how its energy is known. */
type MeterOfGpu = EnergyBand & Pick<GpuTariff, 'meter'>

type UpstreamUse = Extract<Claim, { kind: 'upstream' }>

/** The use of failed answers, which the operator absorbs. */
type Absorbed = {
  cellsNs: bigint
  cellsNj: Nj
  readonly gpu: Map<string, Billed>
  readonly upstreams: Map<string, UpstreamUse>
}
type ClaimedCell = {
  cpuNs: bigint
  gpuNs: bigint
  /** Energy of the steps on the GPU, in billionths of a nanojoule: each second at the tariff of its claim. */
  gpuEnergy: bigint
  /** The part of that energy that was last reported. */
  gpuBilledNj: Nj
}

/** The energy of the node and of its GPU, as far as a hold pays for both. */
type BilledShares = { readonly nodeNj: Nj; readonly gpuNj: Nj }

const NOTHING_SHARED: BilledShares = { nodeNj: nj(0n), gpuNj: nj(0n) }

export class Measure {
  /** CPU that marks gave to this spend; a double, because it is written on the hot path. */
  cpuNs = 0
  readonly #cells = new Map<string, ClaimedCell>()
  readonly #upstreams = new Map<string, UpstreamUse>()
  /** None as a rule. */
  #absorbed: Absorbed | undefined
  // Their sums, kept: a stream asks for its energy at every token.
  #cellsNs = 0n
  #gpuNs = 0n
  #gpuNj = nj(0n)
  /** The meter of the GPU, and the widest band of the tariffs that its time was claimed at. */
  #gpu: MeterOfGpu | undefined
  #upstreamsNj = nj(0n)
  /** The shares that were last reported. */
  #billed: BilledShares = NOTHING_SHARED

  /**
   * Cumulative figures: the last one of each cell and meter counts. CPU never falls; the declared usage of an upstream
   * may be less than our count. Time on the GPU costs what `gpu` says now: answers of ten seconds outlast its tariffs.
   */
  claim(used: Claim, gpu?: GpuTariff): void {
    if (used.kind === 'cpu') return this.#claimCell(used, gpu)
    const key = keyOfUpstream(used)
    const before = this.#upstreams.get(key)?.energyNj ?? nj(0n)
    invariant(used.energyNj >= 0n, `a claim of meter ${used.meter} is negative`)
    this.#upstreams.set(key, used)
    this.#upstreamsNj = subtract(add(this.#upstreamsNj, used.energyNj), before)
  }

  #claimCell(
    { cell, cpuNs, gpuNs = 0n }: Extract<Claim, { kind: 'cpu' }>,
    gpu: GpuTariff | undefined,
  ): void {
    let use = this.#cells.get(cell)
    if (use === undefined) {
      use = { cpuNs: 0n, gpuNs: 0n, gpuEnergy: 0n, gpuBilledNj: nj(0n) }
      this.#cells.set(cell, use)
    }
    invariant(cpuNs >= use.cpuNs && gpuNs >= use.gpuNs, `a claim of cell ${cell} fell`)
    const moreNs = gpuNs - use.gpuNs
    this.#cellsNs += cpuNs - use.cpuNs
    this.#gpuNs += moreNs
    use.cpuNs = cpuNs
    use.gpuNs = gpuNs
    if (gpu === undefined || moreNs === 0n) return
    const rate = gpu.models.get(cell) ?? gpu
    const beforeNj = gpuNjOf(use)
    use.gpuEnergy += moreNs * rate.njPerGpuS
    this.#gpuNj = add(this.#gpuNj, subtract(gpuNjOf(use), beforeNj))
    const { bandPct = -1 } = this.#gpu ?? {}
    if (rate.bandPct > bandPct)
      this.#gpu = { meter: gpu.meter, method: rate.method, bandPct: rate.bandPct }
  }

  /** All that was claimed until now becomes the operator's; says whether there was any. */
  absorb(tariff: Tariff): boolean {
    if (this.#upstreams.size === 0 && this.#cells.size === 0) return false
    const absorbed = (this.#absorbed ??= {
      cellsNs: 0n,
      cellsNj: nj(0n),
      gpu: new Map(),
      upstreams: new Map(),
    })
    addByCell(
      absorbed.gpu,
      [...this.#cells].map(([cell, use]) => [
        cell,
        { chargedNs: use.gpuNs, accruedNj: gpuNjOf(use) },
      ]),
    )
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
    this.#gpuNs = 0n
    this.#gpuNj = nj(0n)
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

  /** Method and band of the energy on the GPU; undefined before any, and where the GPU has no meter. */
  get gpuKnown(): EnergyBand | undefined {
    return this.#gpu
  }

  /** Energy of cells and upstreams, without the CPU of this process. */
  claimedEnergy(tariff: Tariff): Nj {
    const cellsNj = energyOfCpu(this.#cellsNs, tariff.njPerCpuS)
    return add(add(cellsNj, this.#gpuNj), this.#upstreamsNj)
  }

  energy(tariff: Tariff): Nj {
    return add(add(this.nodeEnergy(tariff), this.#gpuNj), this.#upstreamsNj)
  }

  /**
   * Together at most `limit`, the node's first, and none less than before: at the limit further CPU takes nothing from
   * the GPU's. The meters' true-ups want totals that never fall.
   */
  billed(tariff: Tariff, limit: Nj): BilledShares {
    const { nodeNj: leastNodeNj, gpuNj: leastGpuNj } = this.#billed
    const rest = (taken: Nj) => subtract(limit, smaller(limit, taken))
    const nodeNj = larger(leastNodeNj, smaller(this.nodeEnergy(tariff), rest(leastGpuNj)))
    const gpuNj = larger(leastGpuNj, smaller(this.#gpuNj, rest(nodeNj)))
    return (this.#billed = { nodeNj, gpuNj })
  }

  /** The part of the GPU by cell, and all time on it; none is less than before. */
  billedGpu(tariff: Tariff, limit: Nj): [cell: string, billed: Billed][] {
    let { gpuNj: left } = this.billed(tariff, limit)
    for (const { gpuBilledNj } of this.#cells.values()) left = subtract(left, gpuBilledNj)
    return [...this.#cells].map(([cell, use]) => {
      const more = smaller(left, subtract(gpuNjOf(use), use.gpuBilledNj))
      left = subtract(left, more)
      use.gpuBilledNj = add(use.gpuBilledNj, more)
      return [cell, { chargedNs: use.gpuNs, accruedNj: use.gpuBilledNj }]
    })
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
    if (this.#gpu !== undefined && this.#gpuNs > 0n)
      parts.push(gpuPart(this.#gpu, gpuNj.toString()))
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

  /** Steps on the GPU that the operator absorbs. */
  get absorbedGpu(): BilledByCell {
    return this.#absorbed?.gpu ?? NOTHING_ON_GPU
  }

  /** The parts that the operator absorbs: the node's, its GPU's, then by meter; none as a rule. */
  absorbedParts(tariff: Tariff): ChargePart[] {
    if (this.#absorbed === undefined) return []
    const { cellsNj, gpu, upstreams } = this.#absorbed
    const parts = byName(upstreams).map((one) => upstreamPart(one, one.energyNj.toString()))
    const gpuNj = sum(gpu.values().map(({ accruedNj }) => accruedNj))
    if (this.#gpu !== undefined && gpuNj > 0n) parts.unshift(gpuPart(this.#gpu, gpuNj.toString()))
    return cellsNj === 0n ? parts : [nodePart(tariff, cellsNj.toString()), ...parts]
  }
}

const NOTHING_ON_GPU: BilledByCell = new Map()
const gpuNjOf = ({ gpuEnergy }: ClaimedCell): Nj => nj(gpuEnergy / NS_PER_S)

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

const gpuPart = ({ meter, method, bandPct }: MeterOfGpu, energyNj: string): ChargePart => ({
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
