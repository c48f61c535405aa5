import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeBlocks } from './take-blocks.ts'

const MIB = 1_048_576

test('blocks are the file’s, and a file system that takes none is not believed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-blocks-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'file')
  writeFileSync(path, '')
  await takeBlocks({ path, bytes: MIB })
  await takeBlocks({ path, from: MIB, bytes: MIB, posix: true })
  const { size, blocks } = statSync(path)
  assert.equal(size, 2 * MIB)
  assert.ok(blocks * 512 >= 2 * MIB)
  // It says yes, and makes a hole.
  const lie = async () => truncateSync(path, 8 * MIB)
  await assert.rejects(takeBlocks({ path, from: 2 * MIB, bytes: 6 * MIB }, undefined, lie), {
    message: /keeps no room for a file: 2\d{6} of 8388608 bytes were taken/,
  })
})
