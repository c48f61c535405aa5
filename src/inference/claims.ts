// A request may make several calls: batches of inputs, or a second offer when the first one fails.
// Each call's figures start at zero, a Spend's are of all calls: this adds them up per meter.
import { add } from '#base/units.ts'
import type { Spend, Claim } from '#charging/spend.ts'

/** The claims of a request. */
export class RequestClaims {
  readonly #spend: Pick<Spend, 'claim' | 'finish' | 'absorb'>
  /** Totals by cell or meter: of all calls, and of those before the current call. */
  #totals: Claim[] = []
  #before: readonly Claim[] = []

  constructor(spend: Pick<Spend, 'claim' | 'finish' | 'absorb'>) {
    this.#spend = spend
  }

  /** A new call begins: its figures are added to the earlier claims. */
  begin(): void {
    if (this.#totals.length > 0) this.#before = [...this.#totals]
  }

  claim(used: Claim): void {
    this.#spend.claim(this.#totalOf(used))
  }

  /** A claim of an answer that is whole. */
  finish(used: Claim): void | Promise<void> {
    return this.#spend.finish(this.#totalOf(used))
  }

  /** The caller gets nothing of any of it, and not by its own doing: what was claimed is the operator's. */
  absorb(): void {
    this.#totals = []
    this.#before = []
    this.#spend.absorb()
  }

  #totalOf(used: Claim): Claim {
    const key = keyOf(used)
    const total = plus(
      used,
      this.#before.find((one) => keyOf(one) === key),
    )
    const at = this.#totals.findIndex((one) => keyOf(one) === key)
    this.#totals[at < 0 ? this.#totals.length : at] = total
    return total
  }
}

/** Cells and meters have names of two kinds: no cell's holds a colon, every meter's does. */
const keyOf = (used: Claim): string => (used.kind === 'cpu' ? used.cell : used.meter)

function plus(used: Claim, earlier: Claim | undefined): Claim {
  if (used.kind === 'cpu' && earlier?.kind === 'cpu')
    return {
      ...used,
      cpuNs: used.cpuNs + earlier.cpuNs,
      ...(earlier.gpuNs === undefined ? {} : { gpuNs: (used.gpuNs ?? 0n) + earlier.gpuNs }),
    }
  if (used.kind === 'upstream' && earlier?.kind === 'upstream')
    return { ...used, energyNj: add(used.energyNj, earlier.energyNj) }
  return used
}
