import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { holdPort } from './held-port.ts'

const host = '127.0.0.1'

test('a held port closes connections, is refused to others, and is free once it is released', async (t) => {
  const first = createServer().listen({ host, port: 0 })
  await once(first, 'listening')
  const { port } = first.address() as AddressInfo
  await assert.rejects(holdPort({ host, port }), { code: 'EADDRINUSE' })
  await new Promise((resolve) => first.close(resolve))
  const held = await holdPort({ host, port })
  const [hadError] = (await once(connect({ host, port }).resume(), 'close')) as [boolean]
  assert.equal(hadError, false)
  await assert.rejects(holdPort({ host, port }), { code: 'EADDRINUSE' })
  await held.release()
  await held.release()
  const next = await holdPort({ host, port })
  t.after(() => next.release())
})
