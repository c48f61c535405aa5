// The standing charge of the things that a product stores, and the retention: what some days of their bytes cost is kept of
// the account's balance, and new work cannot have it.
import {
  createStoredBytes,
  standingEnergy,
  storedLookOf,
  zjPerByteMs,
  type StoragePower,
  type StoredBytes,
  type StoredBytesDeps,
  type StoredKind,
  type StoredSample,
  type StoredSampleRow,
} from '#charging/stored-bytes.ts'
import { fitReserves } from '#ledger/reserves.ts'
import { isStateAway, type Queryable } from '#state/connect.ts'

const DAY_MS = 86_400_000n

export type StoredThingsDeps = StoredBytesDeps & {
  readonly state: Queryable
  readonly power: StoragePower
  /** Days of storage that are kept of a balance. */
  readonly retentionDays: number
}

export type StoredThings<Id> = Pick<StoredKind<Id>, 'operation' | 'meter' | 'name' | 'resource'> & {
  /** SQL of the ids after $1, $2 at most, with those of deleted things that still owe energy. */
  readonly after: string
  /** Before every id. */
  readonly first: Id
  /** The SQL function that samples them by standing_look(). */
  readonly look: string
  /** Names the retention. */
  readonly source: string
}

export function createStoredThings<Id extends string | number>(
  deps: StoredThingsDeps,
  { after, first, look, source, ...kind }: StoredThings<Id>,
): StoredBytes {
  const { state, minuteMs, power } = deps
  return createStoredBytes<Id>(deps, {
    ...kind,
    async after(last, limit) {
      const { rows } = await state.query<{ id: Id }>(after, [last ?? first, limit])
      return rows.map(({ id }) => id)
    },
    look: (ids) => lookAtStored(state, { look, minuteMs, ids, power }),
    isAway: isStateAway,
    sums: (bytesOf) => keepRetention(deps, source, bytesOf),
  })
}

/** Samples them by their ids. */
export async function lookAtStored(
  state: Queryable,
  asked: {
    readonly look: string
    readonly minuteMs: number
    readonly ids: readonly (string | number)[]
    readonly power: StoragePower
  },
): Promise<StoredSample[]> {
  const { rows } = await state.query<StoredSampleRow>(`select * from ${asked.look}($1, $2, $3)`, [
    asked.minuteMs,
    asked.ids,
    String(zjPerByteMs(asked.power)),
  ])
  return rows.map(storedLookOf)
}

async function keepRetention(
  { state, power, retentionDays }: StoredThingsDeps,
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
