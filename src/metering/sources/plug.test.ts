import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Secret } from '#base/log.ts'
import { createPlug, type PlugOptions } from './plug.ts'

const signal = new AbortController().signal

async function listen(t: TestContext, listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

function plugAt(t: TestContext, url: URL, more: Partial<PlugOptions> = {}) {
  const plug = createPlug({ kind: 'shelly', url, bandPct: 3, ...more })
  t.after(() => plug.close())
  return plug
}

const ANSWERS = {
  shelly: [
    '/rpc/Switch.GetStatus?id=0',
    { id: 0, output: true, apower: 61.3, voltage: 231.2, aenergy: { total: 8123.25 } },
    61_300n,
  ],
  tasmota: [
    '/cm?cmnd=Status%208',
    {
      StatusSNS: { Time: '2026-11-21T10:00:00', ENERGY: { Total: 12.3, Power: 48, Voltage: 230 } },
    },
    48_000n,
  ],
  redfish: [
    '/redfish/v1/Chassis/1/Power',
    { '@odata.id': '/redfish/v1/Chassis/1/Power', PowerControl: [{ PowerConsumedWatts: 344 }] },
    344_000n,
  ],
} as const

for (const kind of ['shelly', 'tasmota', 'redfish'] as const) {
  test(`a ${kind} answer is read as power`, async (t) => {
    const [path, answer, milliwatts] = ANSWERS[kind]
    const asked: (string | undefined)[] = []
    const base = await listen(t, (request, response) => {
      asked.push(request.url, request.headers.authorization)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
    const authorization = new Secret('Basic dXNlcjpwYXNz')
    const plug = plugAt(t, new URL(path, base), { kind, authorization })
    assert.deepEqual(await plug.read(signal), { kind: 'power', milliwatts })
    assert.deepEqual(asked, [path, 'Basic dXNlcjpwYXNz'])
    assert.equal(plug.method, kind === 'redfish' ? 'redfish' : 'plug')
  })
}

const BAD: [name: string, listener: RequestListener, reason: RegExp][] = [
  ['has no meter', (_, response) => response.end('{"output":true}'), /no number at apower/],
  ['says null', (_, response) => response.end('{"apower":null}'), /no number at apower/],
  ['says text', (_, response) => response.end('{"apower":"12"}'), /no number at apower/],
  ['is not JSON', (_, response) => response.end('<html>'), /JSON/],
  ['refuses', (_, response) => response.writeHead(401).end('{}'), /HTTP 401/],
  ['redirects', (_, response) => response.writeHead(302, { location: '/' }).end(), /HTTP 302/],
  ['hangs up', (request) => request.socket.destroy(), /other side closed|ECONNRESET|hang up/],
  ['answers too much', (_, response) => response.end(' '.repeat(1_200_000)), /more than 1048576/],
  ['never answers', () => {}, /no answer in 60 ms/],
]
for (const [name, listener, reason] of BAD) {
  test(`a plug that ${name} is unavailable with the reason, and never 0 W`, async (t) => {
    const timeoutMs = name === 'never answers' ? 60 : 20_000
    const plug = plugAt(t, await listen(t, listener), { timeoutMs })
    const reading = await plug.read(signal)
    assert.equal(reading.kind, 'unavailable')
    assert.match(reading.kind === 'unavailable' ? reading.reason : '', reason)
  })
}

test('a plug that was unplugged and came back is read again', async (t) => {
  let up = false
  const base = await listen(t, (request, response) =>
    up ? response.end('{"apower":5.5}') : request.socket.destroy(),
  )
  const plug = plugAt(t, base)
  assert.equal((await plug.read(signal)).kind, 'unavailable')
  up = true
  assert.deepEqual(await plug.read(signal), { kind: 'power', milliwatts: 5500n })
})

test('read() of a plug ends when its signal is aborted', async (t) => {
  const plug = plugAt(t, await listen(t, () => {}), { timeoutMs: 60_000 })
  const abort = new AbortController()
  const reading = plug.read(abort.signal)
  abort.abort()
  assert.equal((await reading).kind, 'unavailable')
})
