// Stands in for the sensor of a GPU while that is silent, and is the tariff before the first busy window. The model is
// the last idle power, and a guess of the power that steps add.
import { nj } from '#base/units.ts'
import { energyOfPower, NJ_PER_MILLIWATT_S } from '#metering/power.ts'
import type { CpuModel } from '#metering/sources/model.ts'
import type { GpuSource } from './nvidia-smi.ts'

/**
 * Only the card's own limit is known. A step of a small model adds little to a large card: 13 to 26 W of 700 W on an
 * H200. The guess is as low, as the operator pays for the difference until a busy second is measured.
 */
const BAND_PCT = 100
const PARTS_OF_RANGE = 50n

/** A processor of this model is a card, and its CPU time is the time of steps. */
export function createGpuModel(
  source: Pick<GpuSource, 'cards' | 'idleMilliwatts' | 'ceilingMilliwatts'>,
): CpuModel {
  const idle = () => source.idleMilliwatts ?? 0n
  const maxMilliwatts = source.ceilingMilliwatts()
  const rangeMilliwatts = maxMilliwatts > idle() ? maxMilliwatts - idle() : maxMilliwatts
  const milliwatts = rangeMilliwatts / PARTS_OF_RANGE
  return {
    basis: source.cards.map(({ name, driver }) => `${name}, driver ${driver}`).join('; '),
    bandPct: BAND_PCT,
    cpus: source.cards.length,
    get idleMilliwatts() {
      return idle()
    },
    maxMilliwatts,
    njPerCpuS: milliwatts * NJ_PER_MILLIWATT_S,
    njPerCpuSRange: [0n, rangeMilliwatts * NJ_PER_MILLIWATT_S],
    linear: true,
    energy: ({ elapsedNs, busyNs }) =>
      nj(energyOfPower(idle(), elapsedNs) + energyOfPower(milliwatts, busyNs)),
  }
}
