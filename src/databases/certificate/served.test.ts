import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readPair } from '#node/certificate-pair.ts'
import { selfSigned } from './self-signed.ts'

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-certificate-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a certificate of our own has the host name of today, and stays while that does', async (t) => {
  const folder = folderOf(t)
  const certOf = async (host: string) =>
    new X509Certificate(readPair(await selfSigned(folder, host)).cert)
  const first = await certOf('db.example.org')
  assert.equal((await certOf('db.example.org')).fingerprint256, first.fingerprint256)
  const next = await certOf('other.example.org')
  assert.equal(next.checkHost('other.example.org'), 'other.example.org')
  assert.equal(next.checkHost('db.example.org'), undefined)
  assert.equal((await certOf('192.0.2.7')).checkIP('192.0.2.7'), '192.0.2.7')
})

test('a pair whose key is of another certificate, or that is cut off, is refused', async (t) => {
  const one = await selfSigned(folderOf(t), 'localhost')
  const other = await selfSigned(folderOf(t), 'localhost')
  assert.ok(readPair(one).cert)
  assert.throws(() => readPair({ cert: one.cert, key: other.key }), /is not that of/)
  writeFileSync(one.cert, readPair(one).cert.slice(0, 200))
  assert.throws(() => readPair(one))
  assert.throws(() => readPair({ cert: 'none', key: 'none' }), /ENOENT/)
})
