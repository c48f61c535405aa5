// The retention: some days of what each account stores are kept of its balance.
import { standingEnergy, type StoragePower } from '#charging/stored-bytes.ts'
import { fitReserves } from '#ledger/reserves.ts'
import type { Queryable } from '#state/connect.ts'

const DAY_MS = 86_400_000n

export type RetentionDeps = {
  readonly state: Queryable
  readonly power: StoragePower
  /** Days of storage that are kept of a balance. */
  readonly retentionDays: number
}

/** Keeps what the stored bytes of each account cost for some days, which new work then cannot have. */
export async function keepRetention(
  { state, power, retentionDays }: RetentionDeps,
  source: string,
  bytesOf: ReadonlyMap<string, bigint>,
): Promise<void> {
  const ms = BigInt(retentionDays) * DAY_MS
  await fitReserves(state, {
    kind: 'retention',
    source,
    energies: new Map(
      [...bytesOf].map(([account, bytes]) => [account, standingEnergy(bytes, ms, power)]),
    ),
  })
}
