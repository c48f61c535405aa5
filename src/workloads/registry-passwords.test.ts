import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { passwordFor } from './registry-passwords.ts'

test('passwordFor() finds the password of a registry alone, and shows nothing of a damaged file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-passwords-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'config.json')
  const auth = Buffer.from('reader:a:b').toString('base64')
  writeFileSync(file, JSON.stringify({ auths: { 'ghcr.io': { auth } }, credsStore: 'x' }))
  assert.deepEqual(await passwordFor('ghcr.io/acme/api:1', file), {
    user: 'reader',
    password: 'a:b',
  })
  assert.equal(await passwordFor('example.com/acme/api:1', file), undefined)
  assert.equal(await passwordFor('oci:/srv/images/api', file), undefined)
  assert.equal(await passwordFor('ghcr.io/acme/api:1', undefined), undefined)
  const unusable = async (why: RegExp) => {
    const found = await passwordFor('ghcr.io/acme/api:1', file).catch((error: Error) => error)
    assert.ok(found instanceof Error && why.test(found.message), String(found))
    assert.ok(!/s3cret/.test(found.message))
  }
  for (const text of ['s3cret', '{"auths":{"ghcr.io":{"auth":"s3cret!"}}}']) {
    writeFileSync(file, text)
    await unusable(/not as docker login writes it/)
  }
  rmSync(file)
  await unusable(/no such file/)
})
