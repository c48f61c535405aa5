// Names that hostile owners of a zone give, asked for from inside of a real cell: over a real DNS server, and the proxy as its
// program makes it. 127.0.0.9 stands for a public address, and 127.0.0.8 for a machine of the operator.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createCells } from '#cells/create-cells.ts'
import { echoSpec, eventually, place } from '#cells/testing/harness.ts'
import { createResolve } from '#egress/resolve.ts'
import { PROXY_PORT } from '#node/egress.ts'
import { startDns } from '#webhooks/testing/dns-server.ts'
import { createCausedByCells } from '#node/meter/caused-by-cells.ts'
import { createReach } from './reach.ts'
import { createEgressServer } from './server.ts'
import { makeTicket } from './ticket.ts'
import { createConnectionTurns } from './turns.ts'

const CANNOT = {
  skip: process.getuid?.() === 0 && process.platform === 'linux' ? false : 'needs root',
}
const [PUBLIC, PRIVATE] = ['127.0.0.9', '127.0.0.8']
const KEY = 'key'

/** A listener that counts connections and answers each like a web server. */
async function listen(t: TestContext, host: string, port = 0) {
  let hits = 0
  const server = createServer((socket) => {
    hits++
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
  }).listen(port, host)
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, hits: () => hits }
}

/** Asks the proxy for each host by both forms; prints the lines of status. */
const SCRIPT = `$| = 1;
my $port = shift @ARGV;
for my $host (@ARGV) {
  for my $head ("CONNECT $host:$port HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n", "GET http://$host:$port/ HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n") {
    socket my $socket, 2, 1, 0;
    connect $socket, pack('S n C4 x8', 2, ${PROXY_PORT}, 127, 0, 0, 1) or die "refused";
    syswrite $socket, $head;
    my $line = <$socket>;
    print $host, ' ', $line =~ s/\\r\\n//r, "\\n";
    shutdown $socket, 1;
  }
}`

/** The lines of status that a cell gets. */
async function askInCell(
  t: TestContext,
  dns: string,
  { hosts, port }: { readonly hosts: readonly string[]; readonly port: number },
): Promise<readonly string[]> {
  const where = place({ level: 'root' })
  const cells = await createCells(where)
  const socket = join(where.runFolder, 'outlets', 'out.sock')
  mkdirSync(dirname(socket), { recursive: true })
  const server = createEgressServer({
    key: KEY,
    own: [],
    reach: createReach({ own: [], networks: [PUBLIC], resolve: createResolve([dns]) }),
    turns: createConnectionTurns(systemClock),
    caused: createCausedByCells(),
    tell: () => undefined,
  })
  server.listen(socket)
  await once(server, 'listening')
  chmodSync(socket, 0o777)
  t.after(async () => {
    server.close()
    await cells.close()
    rmSync(where.root, { recursive: true })
  })
  const lines: string[] = []
  const ticket = makeTicket(KEY, { cell: 'caller', account: 'acct_1' })
  const ports = [{ port: PROXY_PORT, refusal: '' }]
  const cell = await cells.start(
    echoSpec(where, {
      argv: ['/usr/bin/perl', '-e', SCRIPT, String(port), ...hosts],
      name: 'caller',
      environment: { PATH: '/usr/bin:/bin' },
      config: null,
      writes: [],
      root: { outlet: { socket, ticket, ports, hosts: [] } },
      restart: { delaysMs: [60_000], steadyMs: 60_000 },
      ready: { probe: () => new Promise(() => undefined), timeoutMs: 60_000 },
      output: ({ text }) => void lines.push(text),
    }),
  )
  assert.ok(await eventually(() => cell.exits.length > 0, { limitMs: 60_000 }))
  return lines
}

test('a name that is bound to another address meanwhile never leads there', CANNOT, async (t) => {
  const there = await listen(t, PUBLIC)
  const canary = await listen(t, PRIVATE, there.port)
  let answers = 0
  await using dns = await startDns(() => [answers++ % 4 < 2 ? PUBLIC : PRIVATE])
  const hosts = Array.from({ length: 10 }, () => 'rebinds.example.com')
  const lines = await askInCell(t, dns.address, { hosts, port: there.port })
  assert.equal(canary.hits(), 0)
  const made = lines.filter((line) => line.includes(' 200 '))
  assert.ok(made.length > 0 && made.length < lines.length, lines.join('\n'))
  for (const line of lines)
    assert.match(
      line,
      /200 |403 Could not connect to rebinds\.example\.com:\d+: the address is not public: 127\.0\.0\.8$/,
    )
})

test('a name with any address that is not public is refused as a whole', CANNOT, async (t) => {
  const there = await listen(t, PUBLIC)
  const canary = await listen(t, PRIVATE, there.port)
  const zones: Readonly<Record<string, readonly string[]>> = {
    'mixed.example.com': [PUBLIC, PRIVATE],
    'mapped.example.com': [PUBLIC, `::ffff:${PRIVATE}`],
    'metadata.example.com': ['169.254.169.254'],
    'translated.example.com': ['64:ff9b::7f00:8'],
    'tunnelled.example.com': ['2002:7f00:8::'],
    'any.example.com': ['0.0.0.0', '::'],
    'none.example.com': [],
  }
  await using dns = await startDns((name) => zones[name] ?? [])
  const hosts = Object.keys(zones)
  const lines = await askInCell(t, dns.address, { hosts, port: there.port })
  assert.equal(lines.length, 2 * hosts.length, lines.join('\n'))
  for (const line of lines) assert.match(line, / HTTP\/1\.1 (403|502) Could not connect to /)
  assert.deepEqual([there.hits(), canary.hits()], [0, 0])
})
