// The price of a window's work: how the energy that work added is divided, the tariff of the next requests, and the
// true-up. A processor has one tariff for all its work.
import type { EnergyBand } from '#contract/ledger/charge.ts'
import type { Interval } from './interval.ts'
import { createTariff, type TariffDeps, type TariffMeter } from './tariff.ts'
import { createTrueUp, type Billed, type TrueUpOfWindow, type TrueUpTotals } from './true-up.ts'
import type { EnergyOfTime, Split } from './window.ts'

/** A window before its energy is split. */
export type UnsplitWindow = Interval & {
  /** The part of the reading's error that does not depend on its height, in nJ. */
  readonly errorNj: bigint
  /** Its energy is the model's rate times its busy time, by construction. */
  readonly proportional: boolean
}

/** A window that was split, and how its dynamic energy is known. */
export type SplitWindow = UnsplitWindow & Split & EnergyBand

/** A tariff in nJ per CPU-second, its method and its band. */
export type CellTariff = Pick<TariffMeter, 'njPerCpuS' | 'known'>

export interface Pricing extends Pick<TariffMeter, 'njPerCpuS' | 'known' | 'carriedNj'> {
  /** Weights of the cells of a window; absent: the cells are split by their time. */
  weigh?(window: UnsplitWindow, ofCells: EnergyOfTime): readonly bigint[]
  /** Adds a window, once: the tariff follows it. */
  close(window: SplitWindow): TrueUpOfWindow
  /** Tariffs of cells that have one of their own, and that of the others. */
  readonly cells: ReadonlyMap<string, CellTariff>
  readonly others: CellTariff
  readonly totals: TrueUpTotals
}

const NO_CELLS: ReadonlyMap<string, CellTariff> = new Map()

/** One tariff for all work. */
export function createPricing(deps: TariffDeps & { readonly billed: () => Billed }): Pricing {
  const tariff = createTariff(deps)
  const trueUp = createTrueUp(deps.billed)
  return {
    close(window) {
      const closed = trueUp.close(window)
      tariff.observe({ ...window, ...closed })
      return closed
    },
    get njPerCpuS() {
      return tariff.njPerCpuS
    },
    get known() {
      return tariff.known
    },
    get carriedNj() {
      return tariff.carriedNj
    },
    get totals() {
      return trueUp.totals
    },
    cells: NO_CELLS,
    others: tariff,
  }
}
