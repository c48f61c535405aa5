// Objects on a disk whose inodes are used up before its bytes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { tenantRoom } from '#base/tenant-room.ts'
import { createFsStore } from './fs-store.ts'

const DISK_BYTES = 64_000_000
/** The store has 256 folders. */
const INODES = 512

test('the last tenth of the inodes is kept from objects, as that of the bytes is', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'inodes-'))
  const [disk, folder] = [join(home, 'disk'), join(home, 'folder')]
  t.after(() => {
    spawnSync('umount', [folder])
    rmSync(home, { recursive: true })
  })
  writeFileSync(disk, '')
  truncateSync(disk, DISK_BYTES)
  mkdirSync(folder)
  const isMounted =
    spawnSync('/sbin/mkfs.ext4', ['-q', '-N', String(INODES), disk]).status === 0 &&
    spawnSync('mount', ['-o', 'loop', disk, folder]).status === 0
  if (!isMounted) return t.skip('needs root, mkfs.ext4 and loop devices')
  const log = createLogger('test', { write: () => {} })
  const open = () =>
    createFsStore({ folder: join(folder, 'blobs'), location: 'fs', log, clock: systemClock })
  const put = async () =>
    (await open()).put((async function* () {})(), { signal: t.signal, sizeMax: 1000 })
  assert.equal((await put()).size, 0)
  for (let nth = 0; statfsSync(folder).ffree > INODES / 20; nth++)
    writeFileSync(join(folder, String(nth)), '')
  assert.ok((await tenantRoom(folder)) < 0)
  await assert.rejects(put(), { code: 'storage_full' })
})
