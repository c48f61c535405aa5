// The way out of a cell: ports of its loopback lead to a socket that its program can neither see nor speak for.
import assert from 'node:assert/strict'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cell, Cells, CellSpec } from '#cells/cell.ts'
import { createCells } from '#cells/create-cells.ts'
import { echoSpec, eventually, place, survivors } from '#cells/testing/harness.ts'

const CANNOT = {
  skip: process.getuid?.() === 0 && process.platform === 'linux' ? false : 'needs root',
}
const TICKET = 'the-ticket-of-this-cell'
const REFUSAL = 'nobody is there'

type Started = {
  readonly cells: Cells
  readonly cell: Cell
  readonly lines: readonly string[]
  readonly server: Server
}

const PORTS = [
  { port: 3128, refusal: REFUSAL },
  { port: 5432, refusal: '' },
]

type Outlet = { readonly ticket?: string; readonly ports?: typeof PORTS }

/** Starts a cell of the machine's programs; what comes out of it is answered with the first line, and sent back. */
async function start(
  t: TestContext,
  script: string,
  more: Partial<CellSpec> = {},
  { ports = PORTS, ...ticket }: Outlet = { ticket: TICKET },
): Promise<Started> {
  const where = place({ level: 'root' })
  const cells = await createCells(where)
  const socket = join(where.runFolder, 'outlets', 'out.sock')
  mkdirSync(dirname(socket), { recursive: true })
  // Any user: the folder decides which users may connect.
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connection.on('error', () => undefined)
    connection.pipe(connection)
  })
  server.listen(socket)
  await once(server, 'listening')
  chmodSync(socket, 0o777)
  t.after(async () => {
    server.close()
    await cells.close()
    assert.deepEqual(survivors(where.root), [])
    rmSync(where.root, { recursive: true })
  })
  const lines: string[] = []
  const cell = await cells.start(
    echoSpec(where, {
      argv: ['/usr/bin/perl', '-e', script],
      name: 'caller',
      environment: { PATH: '/usr/bin:/bin' },
      config: null,
      writes: [],
      restart: { delaysMs: [60_000], steadyMs: 60_000 },
      ready: { probe: () => new Promise(() => undefined), timeoutMs: 60_000 },
      output: ({ text }) => void lines.push(text),
      ...more,
      root: { ...more.root, outlet: { socket, ...ticket, ports, hosts: ['db.example.com'] } },
    }),
  )
  return { cells, cell, lines, server }
}

/** `dial(port)` connects, sends words, ends its half, and gives what comes back. */
const DIAL = `$| = 1;
sub dial {
  my ($port, $words) = @_;
  socket my $socket, 2, 1, 0 or return "no socket";
  connect $socket, pack('S n C4 x8', 2, $port, 127, 0, 0, 1) or return "refused";
  syswrite $socket, $words;
  shutdown $socket, 1;
  local $/;
  return join '|', split /\\n/, <$socket> // '';
}
`

test(
  'ports of its loopback lead out, each with the ticket and its number first',
  CANNOT,
  async (t) => {
    const { cell, lines } = await start(
      t,
      `${DIAL} print dial(3128, "one"), "\\n", dial(5432, "x" x 300_000) =~ tr/x//, "\\n", dial(5433, ""), "\\n", \`cat /etc/hosts\``,
    )
    assert.ok(await eventually(() => cell.exits.length > 0))
    assert.deepEqual(lines, [
      `${TICKET} 3128|one`,
      '300000',
      'refused',
      '127.0.0.1 localhost caller db.example.com',
      '::1 localhost',
    ])
  },
)

test('a program that connects first of all is not refused', CANNOT, async (t) => {
  // The relay takes longer to begin with so many ports than the program does.
  const ports = Array.from({ length: 400 }, (_, nth) => ({ port: 10_000 + nth, refusal: '' }))
  const script = `${DIAL} print dial(10_399, "first")`
  const { cell, lines } = await start(t, script, {}, { ticket: TICKET, ports })
  assert.ok(await eventually(() => cell.exits.length > 0))
  assert.deepEqual(lines, [`${TICKET} 10399|first`])
})

test(
  'connections of a spare wait for the ticket of the cell that it becomes',
  CANNOT,
  async (t) => {
    const script = `${DIAL} print "in: ", <STDIN>, "\\n"; print dial($_, "early"), "\\n" for 3128, 5432`
    const probe = async (path: string) => void (await access(path))
    const spare = { isSpare: true, ready: { probe, timeoutMs: 60_000 } } as const
    const { cells, cell, lines } = await start(t, script, spare, {})
    await cell.ready()
    assert.ok(await eventually(() => lines.length > 0))
    // Long enough for what must not come.
    await sleep(300)
    assert.deepEqual(lines, ['in: '])
    const { isSpare: _, root, ...spec } = cell.spec
    const outlet = root?.outlet && { ...root.outlet, ticket: TICKET }
    const own = cells.assign(cell, {
      ...spec,
      name: 'own',
      root: { ...root, ...(outlet && { outlet }) },
    })
    assert.ok(await eventually(() => (own?.exits.length ?? 0) > 0))
    assert.deepEqual(lines.slice(1), [`${TICKET} 3128|early`, `${TICKET} 5432|early`])
  },
)

test('the program of a cell finds neither the ticket nor the socket', CANNOT, async (t) => {
  const { cell, lines } = await start(
    t,
    `print grep { /ticket/ } map { "$_=$ENV{$_}\\n" } %ENV;
for my $path (glob '/proc/[0-9]*/{environ,cmdline,maps,mem}') { open my $file, '<', $path or next; local $/; print "found in $path\\n" if <$file> =~ /${TICKET.slice(0, 10)}/ && $path !~ /^\\/proc\\/$$\\// }
for (glob '/proc/1/{cwd,root,fd}/*') { print "$_\\n" }
for (\`cat /proc/net/unix\`) { print if /out.sock/ }
print "$_\\n" for \`find / -name out.sock 2>/dev/null\`;
kill 9, 1; print "done\\n"`,
  )
  assert.ok(await eventually(() => cell.exits.length > 0, { limitMs: 60_000 }))
  assert.deepEqual(lines, ['done'])
})

test(
  'where nobody takes a connection it ends with words, and the next one works',
  CANNOT,
  async (t) => {
    const { cell, lines, server } = await start(
      t,
      `${DIAL} for (1 .. 200) { my $said = dial(3128, "x"); print "$said;\\n" if $said ne $last; $last = $said; select undef, undef, undef, 0.05 }`,
    )
    assert.ok(await eventually(() => lines.length === 1))
    const path = String(server.address())
    server.close()
    assert.ok(await eventually(() => lines.length === 2))
    server.listen(path, () => chmodSync(path, 0o777))
    assert.ok(await eventually(() => lines.length === 3))
    const taken = `${TICKET} 3128|x;`
    assert.deepEqual(lines.slice(0, 3), [taken, `${REFUSAL};`, taken])
    assert.equal(cell.exits.length, 0)
  },
)

/**
 * Listens beside the path with room for one, and takes none until there is a line of input. It reads before it answers: a
 * socket that is closed with bytes in it takes the answer with it.
 */
const BUSY = `use strict; $| = 1; socket my $busy, 1, 1, 0; bind $busy, pack 'S Z*', 1, $ARGV[0] or die $!; listen $busy, 0; chmod 0777, $ARGV[0];
print "listens\\n"; <STDIN>; while (accept my $from, $busy) { my $all = ''; sysread $from, $all, 4096, length $all or last until $all =~ /x$/; print $from "late\\n"; close $from }`

test('where a crowd waits outside, connections wait too', CANNOT, async (t) => {
  let busy: ChildProcessWithoutNullStreams | undefined
  t.after(async () => {
    if (busy?.kill('SIGKILL') === true) await once(busy, 'exit')
  })
  const { lines, server } = await start(
    t,
    `${DIAL} for (1 .. 3) { next if fork; my $said; for (;;) { $said = dial(3128, "x"); last if $said !~ /x$/; select undef, undef, undef, 0.02 } print "$said\\n"; exit } 1 while wait > 0; sleep 100`,
  )
  const path = String(server.address())
  busy = spawn('/usr/bin/perl', ['-e', BUSY, `${path}.busy`])
  await once(busy.stdout, 'data')
  renameSync(`${path}.busy`, path)
  // Long enough for refusals, which must not come.
  await sleep(1000)
  assert.deepEqual(lines, [])
  busy.stdin.write('\n')
  assert.ok(await eventually(() => lines.length === 3))
  assert.deepEqual(lines, ['late', 'late', 'late'])
})

test('a program that listens and takes nobody holds no other connection', CANNOT, async (t) => {
  const { lines } = await start(
    t,
    `${DIAL} select undef, undef, undef, 1; socket my $full, 2, 1, 0; my $at = pack 'S n C4 x8', 2, 8080, 127, 0, 0, 1;
bind $full, $at or die $!; listen $full, 0;
my @held = map { socket my $one, 2, 1, 0; fcntl $one, 4, 0x800; connect $one, $at; $one } 1 .. 4;
select undef, undef, undef, 1; print dial(3128, "x"), "\\n"; sleep 100`,
    { root: { port: 8080 } },
  )
  assert.ok(await eventually(() => lines.length > 0))
  assert.deepEqual(lines, [`${TICKET} 3128|x`])
})

test('an idle way out uses no CPU', CANNOT, async (t) => {
  const { cell, lines } = await start(t, `${DIAL} dial(3128, "x"); print "idle\\n"; sleep 100`)
  assert.ok(await eventually(() => lines.length > 0))
  const before = cell.cpuNs()
  await sleep(1000)
  assert.ok(cell.cpuNs() - before < 50_000_000n, String(cell.cpuNs() - before))
})
