// What one piece of work used so far, in CPU time of this node and in joules of upstreams.
import { invariant } from '#base/errors.ts'
import { add, energyOfCpu, nj, smaller, subtract, type Nj } from '#base/units.ts'
import type { ChargePart } from '#contract/charge.ts'
import type { Used } from './spend.ts'
import type { Tariff } from './tariff.ts'

type Upstream = Extract<Used, { kind: 'upstream' }>

export class Measure {
  /** CPU that marks gave to this work; a double, because it is written on the hot path. */
  cpuNs = 0
  readonly #cells = new Map<string, bigint>()
  readonly #upstreams = new Map<string, Upstream>()
  /** What upstreams spent on answers that did not come: the operator's. */
  #borne: Map<string, Upstream> | undefined
  // Their sums, kept: a stream asks for its energy at every token.
  #cellsNs = 0n
  #upstreamsNj = nj(0n)

  /**
   * Cumulative figures: the last one of each cell and meter counts. CPU never falls; what an upstream
   * declares may be less than what was counted of it.
   */
  claim(used: Used): void {
    if (used.kind === 'cpu') {
      const before = this.#cells.get(used.cell) ?? 0n
      invariant(used.cpuNs >= before, `a claim of cell ${used.cell} fell`)
      this.#cells.set(used.cell, used.cpuNs)
      this.#cellsNs += used.cpuNs - before
      return
    }
    const before = this.#upstreams.get(used.meter)?.energyNj ?? nj(0n)
    invariant(used.energyNj >= 0n, `a claim of meter ${used.meter} is negative`)
    this.#upstreams.set(used.meter, used)
    this.#upstreamsNj = subtract(add(this.#upstreamsNj, used.energyNj), before)
  }

  /** All that upstreams spent until now becomes the operator's; says whether there was any. */
  forgive(): boolean {
    if (this.#upstreams.size === 0) return false
    this.#borne ??= new Map()
    for (const [meter, one] of this.#upstreams) {
      const before = this.#borne.get(meter)?.energyNj ?? nj(0n)
      this.#borne.set(meter, { ...one, energyNj: add(before, one.energyNj) })
    }
    this.#upstreams.clear()
    this.#upstreamsNj = nj(0n)
    return true
  }

  totalCpuNs(): bigint {
    return BigInt(Math.round(this.cpuNs)) + this.#cellsNs
  }

  /** Energy of the CPU time on this node. */
  nodeEnergy(tariff: Tariff): Nj {
    return energyOfCpu(this.totalCpuNs(), tariff.njPerCpuS)
  }

  /** What cells and upstreams spent, without the CPU of this process. */
  claimedEnergy(tariff: Tariff): Nj {
    return add(energyOfCpu(this.#cellsNs, tariff.njPerCpuS), this.#upstreamsNj)
  }

  energy(tariff: Tariff): Nj {
    return add(this.nodeEnergy(tariff), this.#upstreamsNj)
  }

  /**
   * The parts of a charge, together at most `limit`: the node's part first, then the upstreams in the
   * order of their names. What does not fit is the operator's.
   */
  parts(tariff: Tariff, extraCpuNs: bigint, limit: Nj): ChargePart[] {
    let left = limit
    const take = (energy: Nj): string => {
      const taken = smaller(energy, left)
      left = subtract(left, taken)
      return taken.toString()
    }
    const own = energyOfCpu(this.totalCpuNs() + extraCpuNs, tariff.njPerCpuS)
    const parts: ChargePart[] = [
      {
        band_pct: tariff.bandPct,
        energy_nj: take(own),
        meter: tariff.meter,
        method: tariff.method,
      },
    ]
    for (const [meter, one] of byName(this.#upstreams))
      parts.push(upstreamPart(meter, one, take(one.energyNj)))
    return parts
  }

  /** The parts that the operator bears, by meter; none as a rule. */
  borneParts(): ChargePart[] {
    if (this.#borne === undefined) return []
    return byName(this.#borne).map(([meter, one]) =>
      upstreamPart(meter, one, one.energyNj.toString()),
    )
  }
}

const byName = (upstreams: ReadonlyMap<string, Upstream>) =>
  [...upstreams].toSorted(([a], [b]) => (a < b ? -1 : 1))

const upstreamPart = (meter: string, one: Upstream, energyNj: string): ChargePart => ({
  band_pct: String(one.bandPct),
  energy_nj: energyNj,
  meter,
  method: one.method,
  ...(one.factor !== undefined && { factor: one.factor }),
})
