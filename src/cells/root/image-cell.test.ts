// A container is a cell: the root folder of an image, and a TCP port that the cell's socket leads to.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test, type TestContext } from 'node:test'
import type { Cell, CellRoot, CellSpec } from '#cells/cell.ts'
import { createCells } from '#cells/create-cells.ts'
import { echoSpec, eventually, place, survivors } from '#cells/testing/harness.ts'
import { makeImageRoot } from '#cells/testing/image-root.ts'

const IMAGE = mkdtempSync(join(tmpdir(), 'image-'))
chmodSync(IMAGE, 0o755)
after(() => rmSync(IMAGE, { recursive: true }))
const server = readFileSync(join(import.meta.dirname, '../testing/echo-server.pl'), 'utf8')
makeImageRoot(IMAGE, ['/bin/sh', '/usr/bin/perl', '/bin/ls', '/usr/bin/id', '/bin/cat'], {
  'app/echo.pl': server,
  'etc/passwd': 'web:x:33:33::/app:/bin/sh\n',
})
mkdirSync(join(IMAGE, 'var/lib'), { recursive: true })
symlinkSync('/run', join(IMAGE, 'var/run'))
symlinkSync(tmpdir(), join(IMAGE, 'proc'))

const CANNOT = {
  skip: process.getuid?.() === 0 && process.platform === 'linux' ? false : 'needs root',
}
const WEB: CellRoot = { image: IMAGE, user: { uid: 33, gid: 33 }, workingFolder: '/app', port: 80 }

/** Starts a cell of the image; its lines of output are collected. */
async function start(t: TestContext, argv: CellSpec['argv'], more: Partial<CellSpec> = {}) {
  const where = place({ level: 'root' })
  const cells = await createCells(where)
  t.after(async () => {
    await cells.close()
    assert.deepEqual(survivors(where.root), [])
    rmSync(where.root, { recursive: true })
  })
  const lines: string[] = []
  const cell = await cells.start(
    echoSpec(where, {
      argv,
      name: 'web',
      environment: { PATH: '/usr/bin:/bin', '9-odd.name': "a 'b'" },
      config: null,
      writes: [],
      root: WEB,
      restart: { delaysMs: [60_000], steadyMs: 60_000 },
      ready: {
        probe: (path) => once(connect(path), 'connect').then(() => undefined),
        timeoutMs: 20_000,
      },
      output: ({ text }) => void lines.push(text),
      ...more,
    }),
  )
  return { cell, lines }
}

/** The output of a script in the image. */
async function outputOf(t: TestContext, script: string, root: CellRoot = WEB): Promise<string> {
  const { cell, lines } = await start(t, ['sh', '-c', script], { root })
  assert.ok(await eventually(() => cell.exits.length > 0))
  return lines.join('\n')
}

test('an image sees itself, read-only, and nothing of the machine', CANNOT, async (t) => {
  const script = `id; pwd; cat /etc/passwd /etc/hosts; ls /proc/1 2>&1
    for at in / /dev /etc /run /var/lib; do echo $at: $(ls $at); done
    for at in / /app /etc /var /sys /dev; do (: > $at/new) 2>/dev/null && echo wrote $at; done
    for at in /tmp /run /dev/shm /var/lib/data; do : > $at/new && echo wrote $at; done; cat /proc/sys/kernel/hostname`
  const memory = [
    { path: '/var/lib/data', bytes: 1_000_000 },
    { path: '/var/run/web', bytes: 100_000 },
  ]
  assert.equal(
    await outputOf(t, script, { ...WEB, memory }),
    `uid=33(web) gid=33 groups=33
/app
web:x:33:33::/app:/bin/sh
127.0.0.1 localhost web
::1 localhost
ls: cannot access '/proc/1': No such file or directory
/: app bin dev etc lib lib64 proc run sys tmp usr var
/dev: fd full null ptmx pts random shm stderr stdin stdout tty urandom zero
/etc: hostname hosts passwd resolv.conf
/run: web
/var/lib: data
wrote /tmp
wrote /run
wrote /dev/shm
wrote /var/lib/data
web`,
  )
})

test('a program has its environment, no privilege, and one line of a fault', CANNOT, async (t) => {
  const script = `while read -r line; do echo "$line"; done < /proc/self/status | { while read -r name value; do
      case $name in CapBnd:|CapEff:|NoNewPrivs:|Seccomp:) echo $name $value;; esac; done; }
    exec perl -e 'kill 9, 1; print "alive\\n"'`
  assert.equal(
    await outputOf(t, script),
    'CapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\nalive',
  )
  const told = await start(t, ['perl', '-e', 'print map { "$_=$ENV{$_}\\n" } sort keys %ENV'])
  assert.ok(await eventually(() => told.cell.exits.length > 0))
  assert.deepEqual(told.lines, ["9-odd.name=a 'b'", 'PATH=/usr/bin:/bin'])
  const { cell, lines } = await start(t, ['no-such-program'])
  assert.ok(await eventually(() => cell.exits.length > 0))
  assert.deepEqual(
    [lines, cell.exits[0]?.code],
    [['ergon: cannot run no-such-program: No such file or directory'], 127],
  )
})

/** Sends bytes and ends; resolves with what came back. */
const echoed = async ({ socket }: Cell, bytes: Buffer): Promise<boolean> => {
  const client = connect({ path: socket, allowHalfOpen: true })
  client.end(bytes)
  return bytes.equals(await buffer(client))
}

test(
  'words and variables that no process can have are refused, and leave nothing',
  CANNOT,
  async (t) => {
    const argv = (count: number) =>
      [
        'sh',
        '-c',
        'echo $# ${#LONG}',
        'sh',
        ...Array<string>(count).fill('x'.repeat(110_000)),
      ] as const
    const environment = (size: number) => ({ PATH: '/usr/bin:/bin', LONG: 'x'.repeat(size) })
    const { cell, lines } = await start(t, argv(8), { environment: environment(131_000) })
    assert.ok(await eventually(() => cell.exits.length > 0))
    assert.deepEqual(lines, ['8 131000'])
    const where = place({ level: 'root' })
    const cells = await createCells(where)
    t.after(() => rmSync(where.root, { recursive: true }))
    t.after(() => cells.close())
    for (const [count, size] of [
      [8, 131_072],
      [10, 0],
    ] as const)
      await assert.rejects(
        cells.start(
          echoSpec(where, {
            argv: argv(count),
            environment: environment(size),
            writes: [],
            root: WEB,
          }),
        ),
        { code: 'image_unsupported', message: /may have 1048576 together and 131071 each/ },
      )
    assert.deepEqual(cells.list(), [])
    assert.equal(existsSync(join(where.runFolder, 'echoes')), false)
  },
)

test('the socket leads to the port once the program listens', CANNOT, async (t) => {
  const late = [
    'sh',
    '-c',
    'perl -e "select undef, undef, undef, 0.3"; exec perl echo.pl 80',
  ] as const
  const { cell } = await start(t, late, { limits: { files: 3000 } })
  const begun = performance.now()
  await cell.ready()
  assert.ok(performance.now() - begun > 200)
  const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, at) => at % 251))
  const many = Array.from({ length: 300 }, () => echoed(cell, bytes))
  assert.deepEqual(new Set(await Promise.all(many)), new Set([true]))
  assert.ok(await echoed(cell, Buffer.alloc(20_000_000, 'half-closed ')))
  await cell.stop()
  assert.deepEqual(
    cell.exits.map(({ signal }) => signal),
    ['SIGTERM'],
  )
})

test('a client that does not read holds nobody but itself', CANNOT, async (t) => {
  const { cell } = await start(t, ['perl', 'echo.pl', '80'])
  await cell.ready()
  const deaf = connect(cell.socket).pause()
  deaf.on('error', () => undefined)
  t.after(() => deaf.destroy())
  deaf.write(Buffer.alloc(50_000_000))
  await eventually(() => cell.cpuNs() > 0n && deaf.bytesWritten > 0)
  const before = cell.cpuNs()
  assert.ok(await echoed(cell, Buffer.from('others')))
  await sleep(300)
  assert.ok(cell.cpuNs() - before < 100_000_000n, 'it waits without work')
  assert.ok(deaf.writableLength > 0)
})
