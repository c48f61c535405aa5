import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { allUsage } from './all-usage.ts'

const row = (energy: string) => ({ object: 'usage', energy_nj: energy })

test('allUsage() reads all pages', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const isFirst = asked.length === 1
    response.setHeader('Content-Type', 'application/json')
    response.end(
      JSON.stringify({
        object: 'list',
        data: [row(isFirst ? '1' : '2')],
        has_more: isFirst,
        next_cursor: isFirst ? 'a b' : null,
      }),
    )
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  process.env['ERGON_TOKEN'] = `svc_${'a'.repeat(38)}`
  const { data } = await allUsage({ baseUrl: `http://127.0.0.1:${port}` }, 'step=hour')
  assert.deepEqual(
    data.map(({ energy_nj: energy }) => energy),
    ['1', '2'],
  )
  assert.deepEqual(asked, ['/v1/usage?limit=1000&step=hour', '/v1/usage?limit=1000&cursor=a%20b'])
})
