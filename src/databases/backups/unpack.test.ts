// The files of a restored cluster from an archive: nothing is written through a link of the archive.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BackupFault, type LogPiece, type RestorePlan } from './plan.ts'
import type { SealedBlobs } from './sealed-blobs.ts'
import { unpackCluster } from './unpack.ts'

const { signal } = new AbortController()
const MB = 1_048_576
/** Any file that is there. */
const roomLock = import.meta.filename

test('unpackCluster() refuses a copy whose folder of the log, or anything below it, is a link', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'ergon-unpack-'))
  t.after(() => rmSync(place, { recursive: true }))
  const [away, folder] = [join(place, 'away'), join(place, 'restored')]
  mkdirSync(away)
  const unpack = async (name: string, link: string | undefined): Promise<void> => {
    const files = join(place, name)
    mkdirSync(join(files, 'base'), { recursive: true })
    writeFileSync(join(files, 'backup_label'), 'label')
    if (link !== 'pg_wal') mkdirSync(join(files, 'pg_wal'))
    if (link !== undefined) symlinkSync(away, join(files, link))
    const tar = execFileSync('tar', ['-c', '-C', files, '.'])
    const blobs: Pick<SealedBlobs, 'get'> = {
      async *get(sealed) {
        yield sealed === piece ? Buffer.alloc(MB) : tar
      },
    }
    const key = {} as LogPiece['key']
    const blob = {} as LogPiece['blob']
    const piece: LogPiece = {
      blob,
      key,
      size: MB,
      begin: BigInt(MB),
      end: 2n * BigInt(MB),
      timeline: 1,
    }
    const plan: RestorePlan = {
      files: [{ blob, key, size: tar.length }],
      filesBytes: tar.length,
      log: [piece],
      consistent: piece.end,
    }
    const work = { folder, plan, until: 'end' } as const
    await unpackCluster({ blobs: blobs as SealedBlobs, roomLock }, work, () => undefined, signal)
  }
  for (const link of ['pg_wal', 'postgresql.auto.conf', join('base', 'one')])
    await assert.rejects(unpack(link.replace('/', '-'), link), (error) => {
      assert.ok(error instanceof BackupFault)
      assert.match(error.message, /^its copy has a link or a device: /)
      return true
    })
  assert.deepEqual(readdirSync(away), [])
  await unpack('plain', undefined)
  assert.equal(readdirSync(join(folder, 'data', 'pg_wal')).length, 1)
})

test('unpackCluster() leaves the last tenth of the disk, as all work of tenants does', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'ergon-unpack-'))
  t.after(() => rmSync(place, { recursive: true }))
  const { bsize, blocks, bavail } = statfsSync(place)
  const room = Math.floor((bavail - blocks / 10) * bsize)
  // Between what tenants may take and what is free.
  const filesBytes = Math.max(0, room) + Math.floor((blocks * bsize) / 20)
  const plan: RestorePlan = { files: [], filesBytes, log: [], consistent: 0n }
  const work = { folder: join(place, 'restored'), plan, until: 'end' } as const
  await assert.rejects(
    unpackCluster({ blobs: {} as SealedBlobs, roomLock }, work, () => undefined, signal),
    /the disk of the node has no room for it/,
  )
  await assert.rejects(
    unpackCluster(
      { blobs: {} as SealedBlobs, roomLock, roomOf: async () => MB },
      { ...work, plan: { ...plan, filesBytes: MB } },
      () => undefined,
      signal,
    ),
    /cannot be unpacked|has no label/,
  )
  assert.deepEqual(readdirSync(place), [])
})

test('unpackCluster() reserves its room of the disk, also before the files have taken it', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'ergon-unpack-'))
  t.after(() => rmSync(place, { recursive: true }))
  const BLOCK_BYTES = 512
  const DISK_BYTES = 10 * MB
  const roomOf = async () =>
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .reduce(
        (left, { parentPath, name }) =>
          left - statSync(join(parentPath, name)).blocks * BLOCK_BYTES,
        DISK_BYTES,
      )
  const reads = Promise.withResolvers<void>()
  let readCount = 0
  const ending = new AbortController()
  const blobs: Pick<SealedBlobs, 'get'> = {
    async *get(_, given) {
      if (++readCount > 1) throw new Error('both are unpacked')
      reads.resolve()
      await once(given, 'abort')
      given.throwIfAborted()
      yield Buffer.alloc(0)
    },
  }
  const file = { blob: {}, key: {}, size: 1 } as LogPiece
  const plan: RestorePlan = { files: [file], filesBytes: 8 * MB, log: [], consistent: 0n }
  const unpack = (name: string) =>
    unpackCluster(
      { blobs: blobs as SealedBlobs, roomLock, roomOf },
      { folder: join(place, name), plan, until: 'end' },
      () => undefined,
      ending.signal,
    )
  const first = unpack('first')
  first.catch(() => undefined)
  await Promise.race([first, reads.promise])
  await assert.rejects(unpack('second'), /the disk of the node has no room for it/)
  ending.abort(new Error('the end of the test'))
  await assert.rejects(first, /the end of the test/)
  assert.equal(await roomOf(), DISK_BYTES)
})
