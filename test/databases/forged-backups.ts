// Backups with planted faults: those of a real one, changed and stored again as the process of backups stores them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '#base/clock.ts'
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { createSealedBlobs, type SealedBlob } from '#databases/backups/sealed-blobs.ts'
import { quiet } from '#postgres/testing.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import type { Ergon } from '../start-ergon.ts'

const TAR_BYTES_MAX = 256 * 1_048_576
const BLOB =
  "json_build_object('id', b.id, 'location', b.location, 'size', b.size, 'checksum', b.checksum) as blob"

export async function openForge(ergon: Ergon, settings: BlobSettings) {
  const secrets = readFileSync(join(ergon.dataFolder, 'secrets.json'), 'utf8')
  const { state: secret } = JSON.parse(secrets) as { state: string }
  const stores = await openBlobStores(settings, { log: quiet, clock: systemClock })
  const state: Queryable = {
    async query<R extends SqlRow>(text: string, values: readonly unknown[] = []) {
      const rows = await ergon.sql<R>(text, values)
      return { rows, rowCount: rows.length }
    },
  }
  const blobs = createSealedBlobs({ state, stores, secret })
  const { signal } = new AbortController()
  const put = async (bytes: Buffer) => {
    const { blob, size, key } = await blobs.put(one(bytes), signal)
    return [JSON.stringify(blob), size, JSON.stringify(key)] as const
  }
  return {
    /** Changes the files of a copy; the id of the other copy. */
    async copy(backup: string, name: string, change: (folder: string) => void): Promise<string> {
      const parts = await ergon.sql<{
        blob: SealedBlob['blob']
        size: string
        key: SealedBlob['key']
      }>(
        `select ${BLOB}, p.size, p.key from database_parts p join blobs b on b.id = p.blob
         where backup = $1 order by number`,
        [backup],
      )
      const folder = mkdtempSync(join(tmpdir(), 'ergon-forge-'))
      try {
        const pieces: Buffer[] = []
        for (const { blob, size, key } of parts)
          for await (const bytes of blobs.get({ blob, size: Number(size), key }, signal))
            pieces.push(bytes)
        execFileSync('tar', ['-x', '-C', folder], { input: Buffer.concat(pieces) })
        change(folder)
        const tar = execFileSync('tar', ['-c', '-C', folder, '.'], { maxBuffer: TAR_BYTES_MAX })
        await ergon.sql(
          `insert into database_backups select (jsonb_populate_record(b, jsonb_build_object('id', $2::text))).*
           from database_backups b where id = $1`,
          [backup, name],
        )
        await ergon.sql('select keep_part($1, 0, $2, $3, $4)', [name, ...(await put(tar))])
        return name
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
    /** Zeros in place of the last piece of a log, while work goes on. */
    async withoutLastLog(database: string, work: () => Promise<void>): Promise<void> {
      const [last] = await ergon.sql<{
        begin: string
        bytes: string
        blob: string
        size: string
        key: object
      }>(
        `select begin_lsn as begin, end_lsn - begin_lsn as bytes, blob, size, key from database_wal
         where database = $1 order by begin_lsn desc limit 1`,
        [database],
      )
      assert.ok(last !== undefined)
      const [blob, size, key] = await put(Buffer.alloc(Number(last.bytes)))
      const { id } = JSON.parse(blob) as { id: string }
      const swap =
        'update database_wal set blob = $3, size = $4, key = $5 where database = $1 and begin_lsn = $2'
      await ergon.sql('select storage_hold(jsonb_build_array($1::jsonb), false)', [blob])
      await ergon.sql(swap, [database, last.begin, id, size, key])
      await work()
      await ergon.sql(swap, [database, last.begin, last.blob, last.size, JSON.stringify(last.key)])
      await ergon.sql('select storage_release(array[$1::uuid])', [id])
    },
  }
}

/** Changes one byte near the end of the first page of a file: in its first row. */
export function damagePage(path: string): void {
  const bytes = readFileSync(path)
  assert.ok(bytes.length > 0)
  const at = 8192 - 4
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
