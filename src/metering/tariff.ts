// The tariff: the price in energy of a CPU-second, fixed at the first admit of a request, or of a second on a GPU, fixed at its
// claim. The tariff follows the
// windows: an average whose weight falls by half each window. On over-billing (it was above what
// the windows then held) the difference is carried and taken off the next ten seconds, a quarter of the
// average at most. A linear model needs neither: its windows hold its own rate for every CPU-second, and there the tariff stays.
import { nj, type Nj } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import { NS_PER_S } from './power.ts'

/** A closed window's figures for the tariff. */
export type Observation = {
  readonly elapsedNs: bigint
  readonly busyNs: bigint
  /** CPU time that the machine could have given: processors × elapsed. */
  readonly capacityNs: bigint
  readonly dynamicNj: Nj
  /** CPU time of this window that requests pay for. */
  readonly chargedNs: bigint
  /** The bill of those requests less their part of the dynamic energy; may be negative. */
  readonly trueUpNj: Nj
  /** True for a model, whose dynamic energy is by construction its rate times the busy time. */
  readonly proportional: boolean
} & EnergyBand

export interface TariffMeter {
  /** nJ per CPU-second now. */
  readonly njPerCpuS: bigint
  /** The method and band of the tariff: of all its parts, that with the widest band. The model's before any reading. */
  readonly known: EnergyBand
  /** Over-billing not yet taken off. */
  readonly carriedNj: Nj
  observe(window: Observation): void
}

// Below 5 % busy the dynamic part is mostly noise of the idle estimate.
const BUSY_LEAST_PERMILLE = 50n
// Measured over 1000 spans of changing load on a concave curve, with work of 1 to 3 s. A decay of 2 keeps the true-up
// within 1.3 % of the reading (3: 1.7 %, 4: 2.1 %, 8: 3.8 %), all of it under-billing. Streams of 30 s outlast the load that they were
// admitted at: off by up to 11 % of the reading either way, whatever the decay.
const DECAY = 2n
const REPAY_NS = 10n * NS_PER_S
// The most that is taken off is the average divided by this, since the work behind the credit says little of the work
// to come. One request of 1 ms a second took a tariff of 307 J to 0 within five seconds, and the next 9 kJ were free.
const REPAY_DIVISOR = 4n
// Before the first window: as much weight as 0.1 s of one processor at the model's figure.
const BOOT_WEIGHT_NS = NS_PER_S / 10n

// A method with less of the average's CPU time than this is not named.
const NAMED_PERCENT = 1n

export type TariffDeps = {
  readonly modelNjPerCpuS: bigint
  readonly modelBandPct: number
  readonly range?: readonly [least: bigint, most: bigint]
}

/** Method and band of a tariff before any reading. */
export const modelKnown = ({ modelBandPct }: Pick<TariffDeps, 'modelBandPct'>): EnergyBand => ({
  method: 'model',
  bandPct: modelBandPct,
})

/** The window says what a CPU-second costs. */
export const isBusyEnough = ({
  busyNs,
  capacityNs,
}: Pick<Observation, 'busyNs' | 'capacityNs'>): boolean =>
  busyNs > 0n && busyNs * 1000n >= capacityNs * BUSY_LEAST_PERMILLE

/** A tariff that starts at the model's nJ per CPU-second, and stays within the range: by default [0.2, 5] × that. */
export function createTariff(deps: TariffDeps): TariffMeter {
  const model = modelKnown(deps)
  const { modelNjPerCpuS, range = [modelNjPerCpuS / 5n, modelNjPerCpuS * 5n] } = deps
  const [lowest, highest] = range
  // Energy and time are averaged apart: their quotient is then weighted by CPU time, as bills are.
  let energy = (deps.modelNjPerCpuS * BOOT_WEIGHT_NS) / NS_PER_S
  let busyNs = BOOT_WEIGHT_NS
  let chargedNsPerS = 0n
  let carried = 0n
  let follows = false
  let tariff = deps.modelNjPerCpuS
  let parts: readonly TariffPart[] = [{ ...model, busyNs }]

  const learn = (window: Observation) => {
    energy += window.dynamicNj - energy / DECAY
    busyNs += window.busyNs - busyNs / DECAY
    parts = [...parts.map(halved), window]
      .reduce(merged, [])
      .filter((part) => part.busyNs * 100n >= busyNs * NAMED_PERCENT)
  }
  const measured = () => (energy * NS_PER_S) / busyNs
  const average = () => {
    const rate = measured()
    return rate < lowest ? lowest : rate > highest ? highest : rate
  }
  // At a limit it is the model that says how much.
  const isLimited = () => average() !== measured()
  // A second without charged work does not say how much work pays a credit back. On an H200 a credit of 33 J made the
  // tariff 0 within five such seconds: ten seconds of work that took 1.4 kJ were free.
  const expect = (chargedNow: bigint) => {
    if (chargedNow === 0n) return
    chargedNsPerS =
      chargedNsPerS === 0n ? chargedNow : chargedNsPerS + (chargedNow - chargedNsPerS) / DECAY
  }
  const discount = () => {
    const expectedNs = (chargedNsPerS * REPAY_NS) / NS_PER_S
    const most = average() / REPAY_DIVISOR
    const asked = expectedNs === 0n ? 0n : (carried * NS_PER_S) / expectedNs
    return asked < most ? asked : most
  }
  return {
    get njPerCpuS() {
      return tariff
    },
    get known() {
      const [first = model, ...more] = isLimited() ? [model, ...parts] : parts
      const { method, bandPct } = more.reduce(wider, first)
      return { method, bandPct }
    },
    get carriedNj() {
      return nj(carried)
    },
    observe(window) {
      // The tariff follows from the first measured window on, also while the model stands in for a silent
      // sensor: work that was admitted at the sensor's rate can then be billed too much.
      follows ||= !window.proportional
      if (!follows || window.elapsedNs <= 0n) return
      if (isBusyEnough(window)) learn(window)
      expect((window.chargedNs * NS_PER_S) / window.elapsedNs)
      // Under-billing is the operator's and is never carried: it must not be billed to later requests.
      carried = carried + window.trueUpNj > 0n ? carried + window.trueUpNj : 0n
      const reduced = average() - discount()
      tariff = reduced > lowest ? reduced : lowest
    },
  }
}

/** CPU time that made the average, by how its energy is known. */
type TariffPart = EnergyBand & { readonly busyNs: bigint }

const halved = (part: TariffPart): TariffPart => ({
  ...part,
  busyNs: part.busyNs - part.busyNs / DECAY,
})

/** The parts with one more, added to the one that is known alike. */
function merged(
  parts: readonly TariffPart[],
  { method, bandPct, busyNs }: TariffPart,
): readonly TariffPart[] {
  const isAlike = (part: TariffPart) => part.method === method && part.bandPct === bandPct
  const before = parts.find(isAlike)?.busyNs ?? 0n
  return [...parts.filter((part) => !isAlike(part)), { method, bandPct, busyNs: before + busyNs }]
}

const wider = (a: EnergyBand, b: EnergyBand): EnergyBand => (b.bandPct > a.bandPct ? b : a)
