// The outputs of a tenant's program: it opens them by their names, no line is lost, and nothing of them is left.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import type { CellRoot, CellSpec, EndedLife } from '#cells/cell.ts'
import { eventually } from '#cells/testing/harness.ts'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { runApart } from '#cells/testing/run-once.ts'
import { openPlace, ROOT, scriptSpec } from '#cells/testing/script-cells.ts'

const IMAGE = mkdtempSync(join(tmpdir(), 'image-'))
chmodSync(IMAGE, 0o755)
after(() => rmSync(IMAGE, { recursive: true }))
if (ROOT.skip === false) makeImageRoot(IMAGE, ['/bin/sh', '/usr/bin/perl', '/bin/sleep'], {})

const BY_NAME = `echo hello > /dev/stdout; echo err > /dev/stderr; echo again >> /proc/self/fd/1
  echo whole; exec 1>&- 2>&-; sleep 0.2; exit 3`
const ACCOUNT = { kind: 'account', account: 'acct_1' } as const

test(
  'a program opens its outputs by their names, at the levels root and userns',
  ROOT,
  async () => {
    const roots: readonly CellRoot[] = [
      {},
      { image: IMAGE },
      { image: IMAGE, user: { uid: 0, gid: 0 } },
      { image: IMAGE, user: { uid: 33, gid: 33 } },
    ]
    for (const level of ['root', 'userns'] as const)
      for (const root of roots) {
        const { lines, exit } = await runApart({ level, root, argv: ['/bin/sh', '-c', BY_NAME] })
        assert.deepEqual(lines.toSorted(), ['again', 'err', 'hello', 'whole'], level)
        assert.equal(exit?.code, 3)
      }
  },
)

/** A cell of the image, with its lines and what is reported of its end. */
async function start(t: TestContext, argv: CellSpec['argv'], more: Partial<CellSpec> = {}) {
  const { cells, where } = await openPlace(t, { level: 'root' })
  const lines: string[] = []
  const ends: EndedLife[] = []
  const linesAtEnd: number[] = []
  const cell = await cells.start(
    scriptSpec(where, '', {
      argv,
      writes: [],
      root: { image: IMAGE },
      restart: { delaysMs: [60_000], steadyMs: 60_000 },
      output: ({ text }) => void lines.push(text),
      ended: (_, life) => {
        ends.push(life)
        linesAtEnd.push(lines.length)
      },
      ...more,
    }),
  )
  return { cell, cells, where, lines, ends, linesAtEnd }
}

const perl = (script: string) => ['/usr/bin/perl', '-e', script] as const
/** More than the agent reads of an account at once, in lines of 8 KiB. */
const LONG_LINES = 3000
const FLOOD = `print 'x' x 8191, "\\n" for 1 .. ${LONG_LINES}; print "the last\\n"`

test(
  'the end of a program is reported behind its last line, which the agent reads late',
  ROOT,
  async (t) => {
    const script = `open STDOUT, '>', '/dev/stdout'; ${FLOOD}; exit 4`
    const { cell, lines, ends, linesAtEnd } = await start(t, perl(script), { payer: ACCOUNT })
    assert.ok(await eventually(() => ends.length === 1, { limitMs: 60_000 }))
    assert.equal(cell.exits[0]?.code, 4)
    assert.equal(linesAtEnd[0], lines.length)
    const whole = lines.filter((line) => line.length === 8191).length
    const dropped = lines.map((line) => Number(/^(\d+) lines were dropped/.exec(line)?.[1] ?? 0))
    assert.equal(whole + dropped.reduce((sum, count) => sum + count, 0), LONG_LINES)
    assert.equal(ends[0]?.lastLines.at(-1), 'the last')
  },
)

test(
  'lines of a process arrive whose parent has ended, and those behind closed outputs',
  ROOT,
  async (t) => {
    const script = `if (!fork) { exit if fork; select undef, undef, undef, 0.3; print "left\\n"; exit }
    open my $again, '>', '/dev/stdout'; close STDOUT; close STDERR; wait; select undef, undef, undef, 1;
    syswrite $again, "again\\n"; sleep 60`
    const { cell, lines } = await start(t, perl(script))
    assert.ok(await eventually(() => lines.length === 2))
    assert.deepEqual(lines, ['left', 'again'])
    assert.deepEqual(cell.exits, [])
  },
)

test('a program can neither read its outputs nor give them to others', ROOT, async (t) => {
  const script = `$SIG{ALRM} = sub { exit 9 }; alarm 20;
    for my $name (qw(stdout stderr)) {
      open my $in, '<', "/dev/$name" and print "read $name\\n";
      open my $both, '+<', "/dev/$name" and print "read and wrote $name\\n";
      chmod 0666, "/dev/$name" and print "changed $name\\n";
      link "/proc/self/fd/1", "/tmp/$name" and print "linked $name\\n";
    }
    sysread STDOUT, my $byte, 1 and print "read\\n"; print "done\\n"`
  const { cell, lines } = await start(t, perl(script))
  assert.ok(await eventually(() => cell.exits.length > 0))
  assert.deepEqual(lines, ['done'])
})

test('nothing is left of the outputs of lives that have ended', ROOT, async (t) => {
  const fifos = () =>
    descriptors().filter((path) => path.startsWith(where.root) && path.endsWith(' (deleted)'))
  const { cell, where, cells } = await start(t, perl('print "one\\n"; sleep 60'), {
    restart: { delaysMs: [1], steadyMs: 60_000 },
  })
  await cell.ready()
  assert.ok(await eventually(() => fifos().length === 2))
  assert.ok(await eventually(() => fifos().length === 2))
  assert.deepEqual(readdirSync(join(where.runFolder, 'scripts', 'script')), ['s'])
  for (let life = 1; life <= 3; life++) {
    cell.kill()
    assert.ok(await eventually(() => cell.exits.length === life))
  }
  assert.ok(await eventually(() => cell.state === 'ready' && fifos().length === 2))
  await cells.close()
  assert.deepEqual(fifos(), [])
})

/** The files that this process has open. */
const descriptors = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return []
    }
  })
