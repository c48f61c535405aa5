import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { serveInside } from '#node/inside.ts'
import { quiet } from '#postgres/testing.ts'
import { createCancels } from './cancels.ts'

test('a cancel request finds its session in whichever proxy, and nothing after its end', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-cancels-'))
  const proxies = ['one', 'two'].map((name) => join(folder, name))
  const [one, two] = [1, 2].map((number) => createCancels({ number, proxies, log: quiet }))
  assert.ok(one && two)
  const server = await serveInside(proxies[1] ?? '', two.pages)
  t.after(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })
  let cancelled = 0
  const done = Promise.withResolvers<void>()
  const key = two.issue(() => {
    cancelled++
    done.resolve()
  })
  one.request(key)
  await done.promise
  two.request(key)
  assert.equal(cancelled, 2)
  two.revoke(key)
  two.request(key)
  two.request(Buffer.alloc(8, 255))
  assert.equal(cancelled, 2)
})
