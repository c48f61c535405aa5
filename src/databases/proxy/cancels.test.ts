import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { serveInside } from '#node/inside.ts'
import { quiet } from '#postgres/testing.ts'
import { createCancels, FORWARDS_MAX } from './cancels.ts'

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

test('a flood of cancel requests with keys of another proxy reaches it in a bounded number', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-cancels-'))
  const proxies = ['one', 'two'].map((name) => join(folder, name))
  let asked = 0
  let isSilent = true
  const waiting: (() => void)[] = []
  const silent = createServer((_, response) => {
    asked++
    if (isSilent) waiting.push(() => response.end('{}'))
    else response.end('{}')
  })
  silent.listen(proxies[1])
  await once(silent, 'listening')
  t.after(() => {
    silent.close()
    rmSync(folder, { recursive: true })
  })
  const one = createCancels({ number: 1, proxies, log: quiet })
  for (let nth = 0; nth < 3 * FORWARDS_MAX; nth++) one.request(Buffer.alloc(8, 2))
  while (asked < FORWARDS_MAX) await new Promise((resolve) => setTimeout(resolve, 5))
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(asked, FORWARDS_MAX)
  isSilent = false
  for (const answer of waiting) answer()
  // Once they are answered there is room for further ones.
  while (asked === FORWARDS_MAX) {
    one.request(Buffer.alloc(8, 2))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
})
