// Power over time is energy: the one place where milliwatts become nanojoules.
import { nj, type Nj } from '#base/units.ts'

/** One milliwatt during one second, in nanojoules. */
export const NJ_PER_MILLIWATT_S = 1_000_000n
export const NS_PER_S = 1_000_000_000n

/** Energy of a constant power: floor(mW × ns ÷ 1000) nJ, as 1 mW × 1 ns = 10⁻¹² J. */
export const energyOfPower = (milliwatts: bigint, elapsedNs: bigint): Nj =>
  nj((milliwatts * elapsedNs) / 1000n)

/** Mean power of an energy over a time, in milliwatts; 0 over no time. */
export const powerOf = (energy: Nj, elapsedNs: bigint): bigint =>
  elapsedNs <= 0n ? 0n : (energy * 1000n) / elapsedNs
