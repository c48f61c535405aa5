// Compares the table of folders with the keys, both ways, and mends what differs. A key without its rows is missing in
// listings by `/`. A row too many shows a folder that is none.
import { isStateAway, type Queryable } from '#state/connect.ts'
import { ROW_BYTES_MIN, type RowPass, type RowScrub, scrubRows } from './scrub-rows.ts'

/** A folder with a row too many, or a key that lacks a row. */
export type WrongFolder = { readonly bucket: number; readonly key: string }

/**
 * Keys that lack a row, by the first key of each run of keys of a folder in a piece. One statement sees a key with its
 * rows, since a transaction makes both.
 */
const ROWS_OF_KEYS: RowPass = {
  task: 'folders:keys',
  table: 'object_versions',
  // Some 200 rows.
  blocksMax: 8,
  read: `with piece as materialized (
    select v.bucket, v.key, v.is_latest and not v.delete_marker as is_object from object_versions v
    where v.ctid >= $1 and v.ctid < $2
  )
  select json_build_object('size', 0, 'damage',
    case when k.path is distinct from lag(k.path) over (partition by k.bucket order by k.key) and exists (
      select from storage_folders_of(k.key) f cross join unnest(f.parents, f.names) r (parent, name)
      where not exists (select from object_folders o
        where o.bucket = k.bucket and o.parent = r.parent and o.name = r.name))
    then json_build_object('bucket', k.bucket, 'key', k.key) end)
  from (select bucket, key, storage_folder_of(key) as path from piece where is_object) k
  order by k.bucket, k.key`,
  name: `select json_build_object('at', v.ctid, 'place', json_build_object('bucket', v.bucket, 'key', v.key))
  from object_versions v where v.ctid >= $1 and v.ctid < $2`,
}

/** The names of a row of folders. */
const FOLDER_NAME = `select json_build_object('at', f.ctid, 'place',
    json_build_object('bucket', f.bucket, 'key', f.parent || f.name))
  from object_folders f where f.ctid >= $1 and f.ctid < $2`

/** Rows of folders without an object, also those that say that a folder has keys of its own. */
const KEYS_OF_ROWS: RowPass = {
  task: 'folders:rows',
  table: 'object_folders',
  // Some 200 rows.
  blocksMax: 2,
  read: `select json_build_object('size', 0, 'damage',
    case when f.parent || f.name <> '' and not exists (select from object_versions v
      where v.bucket = f.bucket and v.is_latest and not v.delete_marker
        and v.key >= f.parent || f.name and v.key < storage_beyond(f.parent || f.name))
    then json_build_object('bucket', f.bucket, 'key', f.parent || f.name) end)
  from object_folders f where f.ctid >= $1 and f.ctid < $2`,
  name: FOLDER_NAME,
}

/**
 * Folders below a folder, after which the search for a key of its own ends: 8 ms of the server, half of the slowest of a
 * hundred puts. The second search has the lock of the folder, so puts wait for it. That search reads keys and no row: a
 * put between both that trusts the row of own keys changes no row. A larger folder keeps its row, and a page of 1,000
 * names below it takes 8 ms.
 */
const SEARCH_MAX = 1000

/**
 * Folders that once had keys of their own, and have none beside the folders below. That is no damage: their pages take a
 * descent of the index for each entry, until the row goes.
 */
const WITHOUT_OWN_KEYS: RowPass = {
  task: 'folders:own-keys',
  table: 'object_folders',
  blocksMax: 1,
  read: `with piece as materialized (
    select f.bucket, f.parent, f.name from object_folders f where f.ctid >= $1 and f.ctid < $2
  )
  select json_build_object('size', 0, 'damage',
    case when exists (select from object_folders o
      where o.bucket = f.bucket and o.parent = f.parent and o.name <> '')
    and not storage_has_own_key(f.bucket, f.parent, ${SEARCH_MAX})
    then json_build_object('bucket', f.bucket, 'key', f.parent) end)
  from piece f where f.name = ''`,
  name: FOLDER_NAME,
}

/**
 * Checks about `rowsMax` keys and as many rows of folders, from where the last call ended. `onDamage` is awaited with the
 * wrong ones of a page, then they are mended, then the place moves on: whatever fails, the operator knows. A mend that
 * fails stops no other; `onUnreadable` is awaited with its error, and at the end the call throws the first of them.
 */
export async function checkFolders(
  state: Queryable,
  { rowsMax, signal, onDamage, onUnreadable }: FolderCheck,
): Promise<void> {
  const limits = { bytesMax: rowsMax * ROW_BYTES_MIN, signal, onUnreadable }
  const errors: unknown[] = []
  const change = async (wrong: readonly WrongFolder[], statement: string) => {
    for (const { bucket, key } of wrong) {
      signal.throwIfAborted()
      await state.query(statement, [bucket, key]).catch(async (error: unknown) => {
        if (isStateAway(error)) throw error
        await onUnreadable(error, { bucket, key })
        errors.push(error)
      })
    }
  }
  const check = async (pass: RowPass, mend: RowScrub<WrongFolder>['onDamage']) => {
    const [end] = await Promise.allSettled([
      scrubRows<WrongFolder>(state, pass, { ...limits, onDamage: mend }),
    ])
    if (end.status === 'rejected') errors.push(end.reason)
  }
  for (const pass of [ROWS_OF_KEYS, KEYS_OF_ROWS])
    await check(pass, async (wrong) => {
      await onDamage(wrong)
      await change(wrong, 'select storage_mend_folders($1, $2)')
    })
  await check(WITHOUT_OWN_KEYS, (found) =>
    change(found, `select storage_forget_own_keys($1, $2, ${SEARCH_MAX})`),
  )
  if (errors.length > 0) throw errors[0]
}

type FolderCheck = {
  readonly rowsMax: number
  readonly signal: AbortSignal
  onDamage(wrong: readonly WrongFolder[]): Promise<void>
  /** Also of a mend. An error that is of no page is not for the operator. */
  onUnreadable: RowScrub<WrongFolder>['onUnreadable']
}
