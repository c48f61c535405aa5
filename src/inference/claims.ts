// A request may make several calls: batches of inputs, or a second offer when the first one fails.
// Each call's figures start at zero, a Spend's are of all calls: this adds them up per meter.
import { add } from '#base/units.ts'
import type { Spend, Used } from '#charging/spend.ts'

export type Claims = {
  /** A new call begins: its figures come on top of what was claimed. */
  begin(): void
  claim(used: Used): void
  /** A claim of an answer that is whole. */
  finish(used: Used): void | Promise<void>
  /** The caller gets nothing of any of it, and not by its own doing: what was claimed is the operator's. */
  absorb(): void
}

export function createClaims(spend: Pick<Spend, 'claim' | 'finish' | 'absorb'>): Claims {
  const claimed = new Map<string, Used>()
  let before = new Map<string, Used>()
  const totalOf = (used: Used): Used => {
    // Cells and meters have names of two kinds: no cell's holds a colon, every meter's does.
    const key = used.kind === 'cpu' ? used.cell : used.meter
    const total = plus(used, before.get(key))
    claimed.set(key, total)
    return total
  }
  return {
    begin() {
      before = new Map(claimed)
    },
    claim: (used) => spend.claim(totalOf(used)),
    finish: (used) => spend.finish(totalOf(used)),
    absorb() {
      claimed.clear()
      before.clear()
      spend.absorb()
    },
  }
}

function plus(used: Used, earlier: Used | undefined): Used {
  if (used.kind === 'cpu' && earlier?.kind === 'cpu')
    return { ...used, cpuNs: used.cpuNs + earlier.cpuNs }
  if (used.kind === 'upstream' && earlier?.kind === 'upstream')
    return { ...used, energyNj: add(used.energyNj, earlier.energyNj) }
  return used
}
