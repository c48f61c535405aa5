// Requests of a minute by the counts of gateways, which begin at their start.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { COUNTS_PAGE, type CountsPage } from '#http/counts-pages.ts'
import { createCountsReader } from './counts.ts'

const { signal } = new AbortController()

test('createCountsReader() leaves out what was counted before the first look, and all of a new life after it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-counts-'))
  let counts: CountsPage['counts'] = []
  const server = createServer(({ url }, response) => {
    response.writeHead(url === COUNTS_PAGE ? 200 : 404)
    response.end(JSON.stringify({ counts }))
  })
  const socket = join(folder, 'gateway.sock')
  server.listen(socket)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const read = createCountsReader({
    gatewaySockets: [socket, join(folder, 'none.sock')],
    ingressSocket: join(folder, 'no-ingress.sock'),
  })
  const puts = (answered: number, failures: number) => [
    { operation: 'object.put', statuses: [answered, failures], failures } as never,
  ]
  const look = async (now: CountsPage['counts']) => {
    counts = now
    return [...(await read(signal)).values()]
  }
  assert.deepEqual(await look(puts(1_000, 50)), [])
  assert.deepEqual(await look(puts(1_007, 52)), [{ requests: 9, failures: 2 }])
  assert.deepEqual(await look(puts(1_007, 52)), [{ requests: 0, failures: 0 }])
  assert.deepEqual(await look(puts(3, 1)), [{ requests: 4, failures: 1 }])
})
