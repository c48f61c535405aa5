// The room of the disk that volumes are promised.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createNodeVolumes } from './node-volumes.ts'

// More than a disk has.
const BYTES = 4096 * 1e9

test('what a file has is not asked for again, also where its growth was cut off; others have no room', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-room-'))
  try {
    mkdirSync(join(folder, 'wl_a'))
    const volume = (id: string, bytes: number) => ({ id, name: 'data', path: '/data', bytes })
    const { assertRoom } = createNodeVolumes(folder)
    for (const name of ['vol_a.img', 'vol_b.img.growing']) {
      writeFileSync(join(folder, 'wl_a', name), '')
      truncateSync(join(folder, 'wl_a', name), BYTES)
    }
    const kept = ['vol_a', 'vol_b'].map((id) => volume(id, BYTES))
    await assertRoom({ id: 'wl_a', volumes: kept })
    const refused = { code: 'workload_failed', message: /the node has 0 MB for volumes/ }
    for (const more of [volume('vol_a', BYTES + 4096), volume('vol_c', 4096)])
      await assert.rejects(assertRoom({ id: 'wl_a', volumes: [more] }), refused)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
