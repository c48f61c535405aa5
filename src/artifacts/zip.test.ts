import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'

import { makeZip, zipFile } from './testing.ts'
import { openArchive, unpack } from './zip.ts'

const folder = mkdtempSync(join(tmpdir(), 'ergon-zip-'))
after(() => rmSync(folder, { recursive: true }))

const { signal } = new AbortController()
const text = Buffer.from('a joule is a watt second\n'.repeat(20_000))
const wanted = (path: string, bytes: Buffer, executable = false) => ({
  path,
  sizeBytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  executable,
})
const written = (name: string, bytes: Buffer) => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}
const mismatch = (what: RegExp) => ({ code: 'artifact_mismatch', message: what })

test('unpack() gives stored, deflated, empty and executable files as they were', async () => {
  const parts = [
    zipFile('deflated', text),
    zipFile('a/stored', text, { method: 0 }),
    zipFile('empty', Buffer.alloc(0)),
    zipFile('bin/tool', Buffer.from('#!')),
  ]
  using archive = await openArchive(written('good.zip', makeZip(parts)))
  for (const { path, bytes } of parts) {
    const target = join(folder, 'out', path)
    await unpack(archive, wanted(path, bytes, path === 'bin/tool'), target, signal)
    assert.ok(readFileSync(target).equals(bytes), path)
    assert.equal(statSync(target).mode & 0o777, path === 'bin/tool' ? 0o755 : 0o644)
  }
})

test('unpack() refuses an entry that is absent, of another size or of other bytes', async () => {
  using archive = await openArchive(written('one.zip', makeZip([zipFile('x', text)])))
  const attempt = (want: ReturnType<typeof wanted>, name: string) =>
    unpack(archive, want, join(folder, name), signal)
  await assert.rejects(attempt(wanted('y', text), 'a1'), mismatch(/not in the archive: y/))
  await assert.rejects(attempt(wanted('x', text.subarray(1)), 'a2'), mismatch(/known size/))
  const other = Buffer.from(text)
  other[7] = 0
  await assert.rejects(attempt(wanted('x', other), 'a3'), mismatch(/not the known bytes/))
})

test('unpack() stops an entry that inflates to more than it declares', async () => {
  const bomb = zipFile('x', Buffer.alloc(50_000_000), { declaredBytes: 1000 })
  using archive = await openArchive(written('bomb.zip', makeZip([bomb])))
  const target = join(folder, 'bombed')
  const want = wanted('x', Buffer.alloc(1000))
  await assert.rejects(unpack(archive, want, target, signal), mismatch(/too many bytes/))
  // Refused before it was made, or stopped at what it declared.
  assert.ok((statSync(target, { throwIfNoEntry: false })?.size ?? 0) <= 1000)
})

test('openArchive() refuses what is cut short, no zip, or has a path twice', async () => {
  const whole = makeZip([zipFile('x', text)])
  const faults: [string, Buffer, RegExp][] = [
    ['cut.zip', whole.subarray(0, whole.length - 30), /end of central directory/i],
    ['none.zip', Buffer.from('not a zip'), /end of central directory/i],
    ['void.zip', Buffer.alloc(0), /end of central directory/i],
    ['head.zip', whole.subarray(100), /unexpected EOF/],
    ['twice.zip', makeZip([zipFile('x', text), zipFile('x', text)]), /twice/],
  ]
  for (const [name, bytes, what] of faults)
    await assert.rejects(openArchive(written(name, bytes)), mismatch(what), name)
})
