// Requests of nobody (401, malformed) share one charge per second and status: a flood of them costs
// the journal one record a second, and each reply still prints a figure that has a receipt.
import type { Charge } from '#contract/charge.ts'
import type { Payer } from './spend.ts'

export const NOBODY: Payer = { account: 'nobody', env: 'test', funded: false }
const FIRST_CPU_NS = 150_000
const SAMPLE_NS_MAX = 3_000_000
const LEARN = 1 / 32

export class Refusals {
  readonly #charges = new Map<number, Charge>()
  #second = 0
  #flatCpuNs = FIRST_CPU_NS

  /** The shared charge of this second and status; `make` is called at its first use with the flat cost. */
  charge(
    refusal: { second: number; status: number; cpuNs: number },
    make: (cpuNs: number) => Charge,
  ): Charge {
    this.#flatCpuNs += (Math.min(refusal.cpuNs, SAMPLE_NS_MAX) - this.#flatCpuNs) * LEARN
    if (refusal.second !== this.#second) this.#charges.clear()
    this.#second = refusal.second
    const known = this.#charges.get(refusal.status)
    if (known !== undefined) return known
    const made = make(Math.round(this.#flatCpuNs))
    this.#charges.set(refusal.status, made)
    return made
  }
}
