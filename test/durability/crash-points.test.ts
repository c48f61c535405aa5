// kill -9 at every system call with which a gateway changes the disk. No acknowledged write is lost or torn, and a write
// without an answer is there wholly or not at all. No reported charge is missing or doubled, and orphans are removed.
// ERGON_LONG=1 kills at every call of every act; otherwise at some.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ACTS } from './acts.ts'
import { chargeFaults, killAtEach, openHarness, type Harness } from './crash-points.ts'
import { whyNoStrace } from './strace.ts'
import { openWorld, type World } from './world.ts'

const LONG = process.env['ERGON_LONG'] === '1'
/** All with which bytes, names, statements and answers leave a process. */
const CALLS = 'openat pwritev pwrite64 fdatasync fsync close unlink write writev'.split(' ')
const POINTS: readonly (readonly [act: string, calls: readonly string[]])[] = LONG
  ? Object.keys(ACTS).map((name) => [name, CALLS])
  : [
      ['put into a file', ['pwritev', 'fdatasync']],
      ['delete', ['pwrite64']],
    ]
const skip = whyNoStrace()
const timeout = LONG ? 7_200_000 : 500_000

let world: World
let harness: Harness
let kills = 0
before(async () => {
  if (skip !== false) return
  world = await openWorld()
  harness = await openHarness(world)
})
after(() => (skip === false ? world[Symbol.asyncDispose]() : undefined))

for (const [name, calls] of POINTS)
  test(`kill -9 at any system call of ${name} loses nothing`, { skip, timeout }, async (t) => {
    for (const call of calls) {
      const pass = await killAtEach(harness, name, call)
      assert.deepEqual(pass.faults, [])
      kills += pass.kills
      t.diagnostic(`${call}: ${pass.kills} kills`)
    }
  })

test(
  'after all kills nothing is missing, nothing is left over, the books add up',
  { skip },
  async (t) => {
    const { kept, gateway } = harness
    assert.deepEqual(await kept.check({ port: gateway.port, token: world.token }), [])
    await gateway.stop()
    assert.deepEqual([...(await world.faults()), ...(await chargeFaults(world, kept))], [])
    const { orphans, faults } = await world.tidy()
    assert.deepEqual(faults, [])
    assert.ok(kills >= 3 && orphans >= 1, `${kills} kills and ${orphans} orphans: nothing was hit`)
    t.diagnostic(
      `${kills} kills, ${kept.acknowledged} writes and ${kept.receipts.size} charges acknowledged, ${orphans} orphans removed`,
    )
  },
)

const PASSES_MAX = 4
// The tick that posts a charge is the last to be sent: between the answer and it lies what only the journal has.
for (const [planted, name, call] of [
  ['late-bytes', 'put into a file', 'pwrite64'],
  ['late-journal', 'put into the row', 'write'],
] as const)
  test(`the harness finds ${planted}`, { skip, timeout }, async (t) => {
    const sick = await openHarness(world, { planted: [planted] })
    // A tick may come just before the answer, and then nothing lies between them: the next pass has another one.
    let found: string | undefined
    for (let pass = 0; pass < PASSES_MAX && found === undefined; pass++)
      [found] = (await killAtEach(sick, name, call, 'first fault')).faults
    await sick.gateway.kill()
    assert.ok(found !== undefined, 'a planted bug was not seen')
    t.diagnostic(found)
  })
