// Connections to addresses that take none: a listener whose queue is full drops what asks for it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { connectChecked, NotPermitted } from './checked-socket.ts'

const LISTEN_NEVER_TAKE = `$| = 1; socket my $server, 2, 1, 0;
bind $server, pack 'S n C4 x8', 2, 0, 127, 0, 0, 7; listen $server, 0;
print unpack('x2 n', getsockname $server), "\\n"; sleep 60`
const [SILENT, GOOD] = ['127.0.0.7', '127.0.0.6']
const rule = { permits: () => true }
const { signal } = new AbortController()

/** The port of an address that answers no connection. */
async function listenSilently(t: TestContext): Promise<number> {
  const silent = spawn('/usr/bin/perl', ['-e', LISTEN_NEVER_TAKE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => silent.kill())
  const [line] = (await once(silent.stdout, 'data')) as [Buffer]
  const port = Number(line)
  const filling: Socket[] = [1, 2].map(() => connect(port, SILENT).on('error', () => undefined))
  t.after(() => filling.forEach((socket) => socket.destroy()))
  await Promise.race(filling.map((socket) => once(socket, 'connect')))
  return port
}

test('all addresses of a name are tried within five seconds, a silent one leaves time for the next', async (t) => {
  const port = await listenSilently(t)
  const server = createServer((socket) => socket.destroy()).listen(port, GOOD)
  await once(server, 'listening')
  t.after(() => server.close())
  assert.equal((server.address() as AddressInfo).port, port)
  const begunMs = performance.now()
  const reach = (addresses: readonly string[]) =>
    connectChecked(
      { rule, resolve: async () => addresses },
      { hostname: 'name.example.com', port, ending: signal },
    )
  const why = new NotPermitted('no connection within 5 s')
  const silent = assert.rejects(reach([SILENT, SILENT, SILENT, SILENT]), why)
  // After a quarter of the time.
  const late = pause(4500, undefined, { ref: false })
  const socket = await Promise.race([reach([SILENT, GOOD, GOOD, GOOD]), late])
  assert.equal(socket?.remoteAddress, GOOD)
  socket?.destroy()
  await silent
  // 20 s, were each of them given all of the time.
  assert.ok(performance.now() - begunMs < 12_000)
})

test('a name whose DNS does not answer ends in time too', async () => {
  const never = new Promise<readonly string[]>(() => undefined)
  await assert.rejects(
    connectChecked(
      { rule, resolve: () => never },
      { hostname: 'name.example.com', port: 80, ending: signal },
    ),
    new NotPermitted('no connection within 5 s'),
  )
})
