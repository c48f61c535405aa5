// ReceiptStore on PostgreSQL: the tables of receipts/schema and, read only, charges and their bundles.
import { raiseAlarm } from '#state/alarms.ts'
import { fault } from '#contract/errors.ts'
import { findBundled } from '#ledger/bundles/bundled-charge.ts'
import type { Queryable, SqlRow, State } from '#state/connect.ts'
import type { ReceiptKey } from '#tlog/keys.ts'
import type { Tile, TileId } from '#tlog/tiles.ts'
import { readLeafRows, toBytes, toStoredCharge } from './leaf-rows.ts'
import type { ReceiptStore, SealedCheckpoint, Shard } from './store.ts'

const VALID_FROM = `to_char(valid_from at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as valid_from`

export function createSqlReceiptStore(state: State): ReceiptStore {
  return {
    async shards() {
      const { rows } = await state.query(
        `select origin, shard, public_key, first_leaf, link, handover,
           ${VALID_FROM}
         from receipt_shards order by first_leaf, receipt_shards.valid_from`,
      )
      return rows.map(toShard)
    },
    async lostShards() {
      const { rows } = await state.query(
        `select origin, shard, public_key, ${VALID_FROM} from receipt_lost_shards lost
         where not exists (select from receipt_shards where origin = lost.origin)`,
      )
      return rows.map(toKey)
    },
    async addLostShards(keys) {
      for (const { origin, shard, publicKey, validFrom } of keys)
        await state.query(
          `insert into receipt_lost_shards (origin, shard, public_key, valid_from)
           values ($1, $2, $3, $4) on conflict do nothing`,
          [origin, shard, publicKey, validFrom],
        )
    },
    async latest(origin) {
      const { rows } = await state.query(
        `select origin, size, root, note from receipt_checkpoints
         where origin = $1 order by size desc limit 1`,
        [origin],
      )
      return rows.map(toCheckpoint)[0]
    },
    rows: (from, limit) => readLeafRows(state, from, limit),
    tiles: (origin, wanted) => selectTiles(state, origin, wanted),
    openShard: (epoch, shard, alarm) =>
      state.transaction(async (queries) => {
        await requireEpoch(queries, epoch)
        await insertShard(queries, shard)
        if (alarm !== undefined)
          await raiseAlarm(queries, 'receipts_set_back', { shard: shard.origin, ...alarm })
        await queries.query('update receipt_signers set new_key_ordered_at = null')
      }),
    saveCheckpoint: (epoch, checkpoint, tiles) =>
      state.transaction(async (queries) => {
        await requireEpoch(queries, epoch)
        await insertCheckpoint(queries, checkpoint)
        await upsertTiles(queries, checkpoint.origin, tiles)
      }),
    async charge(id, accounts) {
      const { rows } = await state.query(
        'select account, leaf_index, account_seq, bytes from charges where id = $1',
        [id],
      )
      return rows.map(toStoredCharge)[0] ?? (await findBundled(state, id, accounts))
    },
  }
}

async function selectTiles(
  queries: Queryable,
  origin: string,
  wanted: readonly TileId[],
): Promise<Tile[]> {
  const { rows } = await queries.query(
    `select level, index, hashes from receipt_tiles
     join unnest($2::smallint[], $3::bigint[]) as wanted (level, index) using (level, index)
     where origin = $1`,
    [origin, wanted.map(({ level }) => level), wanted.map(({ index }) => index)],
  )
  return rows.map((row) => ({
    level: Number(row['level']),
    index: Number(row['index']),
    hashes: toBytes(row['hashes']),
  }))
}

async function upsertTiles(
  queries: Queryable,
  origin: string,
  tiles: readonly Tile[],
): Promise<void> {
  await queries.query(
    `insert into receipt_tiles (origin, level, index, hashes)
     select $1, * from unnest($2::smallint[], $3::bigint[], $4::bytea[])
     on conflict (origin, level, index) do update set hashes = excluded.hashes`,
    [
      origin,
      tiles.map(({ level }) => level),
      tiles.map(({ index }) => index),
      tiles.map(({ hashes }) => hashes),
    ],
  )
}

async function insertShard(queries: Queryable, shard: Shard): Promise<void> {
  const { origin, publicKey, firstLeaf, link, handover, validFrom } = shard
  await queries.query(
    `insert into receipt_shards (origin, shard, public_key, first_leaf, link, handover, valid_from)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [origin, shard.shard, publicKey, firstLeaf, link ?? null, handover ?? null, validFrom],
  )
}

// One checkpoint of each minute is kept: at four a second all of them would be 40 GB a year. Receipts
// that were handed out hold their own, and any older size is still provable from the tiles. Only the
// one before can be of this minute: a scan of all of them would grow by 525,600 rows a year.
async function insertCheckpoint(queries: Queryable, checkpoint: SealedCheckpoint): Promise<void> {
  const { origin, size, root, note } = checkpoint
  await queries.query(
    'insert into receipt_checkpoints (origin, size, root, note) values ($1, $2, $3, $4)',
    [origin, size, root, note],
  )
  await queries.query(
    `delete from receipt_checkpoints
     where origin = $1 and date_trunc('minute', sealed_at) = date_trunc('minute', now())
       and size = (select max(size) from receipt_checkpoints where origin = $1 and size < $2)`,
    [origin, size],
  )
}

// The row lock holds to commit, so that a newer sealer cannot begin in between.
async function requireEpoch(queries: Queryable, epoch: number): Promise<void> {
  const { rows } = await queries.query('select epoch from receipt_sealer for update')
  const current = Number(rows[0]?.['epoch'])
  if (current !== epoch)
    throw fault('sealer_fenced', `Could not save as sealer ${epoch}: sealer ${current} has begun`)
}

const toKey = (row: SqlRow): ReceiptKey => ({
  origin: String(row['origin']),
  shard: String(row['shard']),
  publicKey: toBytes(row['public_key']),
  validFrom: String(row['valid_from']),
})

const toShard = (row: SqlRow): Shard => ({
  ...toKey(row),
  firstLeaf: Number(row['first_leaf']),
  link: row['link'] === null ? undefined : String(row['link']),
  handover: row['handover'] === null ? undefined : String(row['handover']),
})

const toCheckpoint = (row: SqlRow): SealedCheckpoint => ({
  origin: String(row['origin']),
  size: Number(row['size']),
  root: toBytes(row['root']),
  note: String(row['note']),
})
