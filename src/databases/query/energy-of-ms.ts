// The most energy that a query takes of its server: its time at one processor. A query that waits takes less.
import { nj, type Nj } from '#base/units.ts'

const NS_PER_MS = 1e6
const NS_PER_S = 1_000_000_000n

export const energyOfMs = (ms: number, njPerCpuS: bigint): Nj =>
  nj((BigInt(Math.round(ms * NS_PER_MS)) * njPerCpuS) / NS_PER_S)
