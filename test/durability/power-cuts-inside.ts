// Power cuts under load, with the state, the blobs and the journal on one disk: nothing that was
// acknowledged is lost or torn; with journal=sync no charge either. ERGON_LONG=1 cuts a hundred times.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { Kept } from './kept.ts'
import { cutPower } from './power-cuts.ts'
import { openVolume, whyNoVolume, type Volume } from './volume.ts'
import { openWorld, type World } from './world.ts'

const LONG = process.env['ERGON_LONG'] === '1'
const CUTS = Number(process.env['ERGON_CUTS'] ?? (LONG ? 100 : 2))
const TIDY_EVERY = 10
const CLIENTS = 6
const DISK_MIB = 1024
const PLANTED_CUTS_MAX = 5
const LOST_BODY = /^\/durable\/.* is (unreadable|absent)/
const LOST_CHARGE = /^rcpt_\w+ was told and is charged 0 times$/
/** Two in one life where what is found of each is not what is found of the other. */
const PLANTED = [
  { planted: ['no-sync', 'no-journal-sync'], faults: [LOST_BODY, LOST_CHARGE] },
  { planted: ['no-names'], faults: [LOST_BODY] },
]
const skip = whyNoVolume()
const timeout = LONG ? 7_200_000 : 500_000

suite('power cuts', { skip, timeout }, () => {
  let volume: Volume
  let world: World
  before(async () => {
    volume = openVolume(DISK_MIB)
    world = await openWorld(volume.folder)
    volume.settle()
  })
  after(async () => {
    await world?.[Symbol.asyncDispose]()
    volume?.[Symbol.dispose]()
  })

  test('a power cut loses nothing that was acknowledged', async (t) => {
    const kept = new Kept()
    const unchargedMs: number[] = []
    let orphans = 0
    for (let seed = 1; seed <= CUTS; seed++) {
      const outage = { seed, clients: CLIENTS, journalSync: seed % 2 === 0 }
      const cut = await cutPower({ world, volume, kept }, outage)
      assert.deepEqual(cut.faults, [], `cut ${seed}`)
      unchargedMs.push(...cut.unchargedMs)
      if (LONG) t.diagnostic(`cut ${seed}: ${cut.acknowledged} acknowledged`)
      if (seed % TIDY_EVERY > 0 && seed < CUTS) continue
      const tidied = await world.tidy()
      assert.deepEqual(tidied.faults, [])
      orphans += tidied.orphans
    }
    assert.ok(kept.acknowledged > CUTS)
    t.diagnostic(
      `${CUTS} cuts, ${kept.acknowledged} writes acknowledged, ${orphans} orphans removed; without journal=sync ${unchargedMs.length} charges gone, the earliest told ${Math.max(0, ...unchargedMs).toFixed(1)} ms before its cut`,
    )
  })

  // Each run checks only its own acknowledged writes. The unsynced data that a file system keeps by luck differs from cut to cut.
  test('the harness finds what is not synced', async (t) => {
    for (const { planted, faults } of PLANTED) {
      const kept = new Kept()
      let unseen = [...faults]
      for (let seed = 1; unseen.length > 0 && seed <= PLANTED_CUTS_MAX; seed++) {
        const outage = { seed, clients: 1, names: ['put into a file'], after: 1, journalSync: true }
        const cut = await cutPower({ world, volume, kept }, { ...outage, planted })
        unseen = unseen.filter((fault) => !cut.faults.some((found) => fault.test(found)))
        t.diagnostic(`${planted.join()}: ${cut.faults.join('; ')}`)
      }
      assert.deepEqual(unseen, [], `${planted.join()} was not seen`)
    }
  })
})
