// Watts of one logical processor, idle and at full load, by microarchitecture: the coefficients that
// Cloud Carbon Footprint derived from SPECpower results (aws and gcp FootprintEstimationConstants).
// Facts about hardware, uncalibrated. Against RAPL traces this form of model is off by 23 % on average, even with
// idle and maximum measured on the machine itself: so the declared band is 40 %.
import type { CpuInfo } from './cpu-info.ts'

export type Coefficients = {
  readonly microarchitecture: string
  readonly idleMilliwatts: bigint
  readonly maxMilliwatts: bigint
}

const CASCADE_LAKE = row('Cascade Lake', 640n, 3970n)
const SKYLAKE = row('Skylake', 650n, 4260n)
const BROADWELL = row('Broadwell', 710n, 3690n)
const HASWELL = row('Haswell', 1000n, 4740n)
const COFFEE_LAKE = row('Coffee Lake', 1140n, 5420n)
const EPYC_1 = row('EPYC 1 (Naples)', 820n, 2550n)
const EPYC_2 = row('EPYC 2 (Rome)', 470n, 1690n)
const EPYC_3 = row('EPYC 3 (Milan)', 450n, 2020n)
/** The mean over the AWS fleet; there are no published figures for newer parts. */
const UNKNOWN = row('unknown', 740n, 3500n)

/** The coefficients of a processor; those of `unknown` when nobody published any for it. */
export function coefficientsOf(cpu: CpuInfo): Coefficients {
  if (cpu.vendor === 'AuthenticAMD') return amd(cpu)
  if (cpu.vendor === 'GenuineIntel' && cpu.family === 6) return intel(cpu)
  return UNKNOWN
}

function amd({ family, model }: CpuInfo): Coefficients {
  if (family === 23 && model < 16) return EPYC_1
  if (family === 23 && model >= 48 && model < 64) return EPYC_2
  if (family === 25 && model < 16) return EPYC_3
  return UNKNOWN
}

function intel({ model, stepping }: CpuInfo): Coefficients {
  switch (model) {
    case 60:
    case 63:
    case 69:
    case 70:
      return HASWELL
    case 61:
    case 71:
    case 79:
    case 86:
      return BROADWELL
    // Skylake-SP and Cascade Lake share a model number and differ by stepping.
    case 85:
      return stepping >= 5 && stepping <= 7 ? CASCADE_LAKE : stepping < 5 ? SKYLAKE : UNKNOWN
    case 158:
      return stepping >= 10 ? COFFEE_LAKE : UNKNOWN
    default:
      return UNKNOWN
  }
}

function row(microarchitecture: string, idle: bigint, max: bigint): Coefficients {
  return { microarchitecture, idleMilliwatts: idle, maxMilliwatts: max }
}
