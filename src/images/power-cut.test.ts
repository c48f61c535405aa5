// A power cut behind a pull: the copy of a mounted disk has what the file system has written to the disk until then.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { openLayout } from './layout-source.ts'
import type { LocalReference } from './reference.ts'
import { createImageStore } from './store.ts'
import { layerOf, writeLayout } from './testing.ts'

const DISK_BYTES = 64_000_000
const TEXT = 'hello'.repeat(100_000)
const ROOM = {
  reserve: async () => true,
  wrote: () => undefined,
  give: async () => undefined,
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

/** Mounts the file system of a file; false where this machine cannot. */
function mounted(disk: string, folder: string): boolean {
  mkdirSync(folder)
  return spawnSync('mount', ['-o', 'loop', disk, folder]).status === 0
}

test('an image has all of its bytes after a power cut, or is not there', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'power-cut-'))
  const disk = join(home, 'disk')
  const folder = join(home, 'folder')
  const after = join(home, 'after')
  t.after(() => {
    for (const path of [folder, after]) spawnSync('umount', [path])
    rmSync(home, { recursive: true })
  })
  writeFileSync(disk, '')
  truncateSync(disk, DISK_BYTES)
  const isMade = spawnSync('/sbin/mkfs.ext4', ['-q', disk]).status === 0
  if (!isMade || !mounted(disk, folder)) return t.skip('needs root, mkfs.ext4 and loop devices')
  const layout = join(home, 'layout')
  writeLayout(layout, { layers: [await layerOf([{ name: 'app', text: TEXT }])] })
  const store = createImageStore({
    folder,
    work: join(folder, 'pulls', 'one'),
    room: ROOM,
    open: (reference, ending) =>
      openLayout(
        reference as LocalReference,
        { scratch: home, bytesMax: 1_000_000, room: ROOM },
        ending,
      ),
  })
  const { root } = await store.pull(`oci:${layout}`, t.signal)
  // As the agent takes it, and then any program syncs its own file, which writes names down, and not the bytes of others.
  const placed = join('roots', basename(root))
  renameSync(root, join(folder, placed))
  const other = openSync(join(folder, 'other'), 'w')
  fsyncSync(other)
  closeSync(other)
  const cut = join(home, 'cut')
  execFileSync('cp', [disk, cut])
  assert.ok(mounted(cut, after))
  assert.ok(existsSync(join(after, placed)))
  assert.equal(readFileSync(join(after, placed, 'app'), 'utf8').length, TEXT.length)
})
