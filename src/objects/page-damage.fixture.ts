// Pages of a test's PostgreSQL that changed on the disk.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { State } from '#state/connect.ts'

/** Settings of a server that forgets its pages soon, and writes none behind the test. */
export const SPOILABLE = { fsync: 'off', shared_buffers: '1MB', autovacuum: 'off' }

/** The detail of an alarm `page_damaged`. */
export type PageAlarm = {
  readonly task: string
  readonly found: string
  readonly bucket?: number | string
  readonly key?: string
  readonly version?: string
}

/** The tables whose pages can be spoiled, by the row that has their file. */
const FILES = {
  bodies: "select reltoastrelid as file from pg_class where oid = 'object_versions'::regclass",
  versions: "select 'object_versions'::regclass as file",
  folders: "select 'object_folders'::regclass as file",
}

/** Changes a bit of the first of each of these bytes on the disk, and makes the server forget its pages. */
export async function spoilPages(
  state: State,
  of: keyof typeof FILES,
  marks: readonly Buffer[],
): Promise<void> {
  // A first read notes in each page that its rows are committed.
  await state.query('select count(md5(inline)) from object_versions')
  await state.query('select count(*) from object_folders')
  await state.query('checkpoint')
  const { rows } = await state.query<{ folder: string; file: string }>(
    `select current_setting('data_directory') as folder, pg_relation_filepath(f.file) as file from (${FILES[of]}) f`,
  )
  const file = join(rows[0]?.folder ?? '', rows[0]?.file ?? '')
  const bytes = readFileSync(file)
  for (const mark of marks) {
    const at = bytes.indexOf(mark.subarray(0, 64))
    assert.ok(at > 0)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at)
  }
  writeFileSync(file, bytes)
  // The server's memory of 128 pages takes these 10,000 in place of the damaged ones, however often those were used.
  await state.query('create table filler (words text)')
  await state.query("insert into filler select repeat('x', 2000) from generate_series(1, 40000)")
  await state.query('drop table filler')
}
