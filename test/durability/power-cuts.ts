// The power goes while clients change objects: the state with its write-ahead log, the blobs and the
// journal are on one disk and lose together what they had not synced. Then the disk comes back, PostgreSQL
// and a gateway start on it, and all that was acknowledged is asked for.
import { once } from 'node:events'
import { signalProcess } from '#cells/stop.ts'
import { childrenOf } from '../faults/processes.ts'
import { createRandom } from '../faults/random.ts'
import { makeBuckets } from './acts.ts'
import { chargeFaults } from './crash-points.ts'
import type { TestServer } from '#postgres/testing.ts'
import type { GatewayAlone, GatewayOptions } from './gateway-alone.ts'
import type { Kept } from './kept.ts'
import { startLoad } from './load.ts'
import type { Volume } from './volume.ts'
import type { World } from './world.ts'

const ACKNOWLEDGED_MAX = 40

export type Cut = {
  readonly acknowledged: number
  readonly faults: readonly string[]
  /** The time between the answer with the earliest lost charge and the cut; without journal=sync. */
  readonly unchargedMs: readonly number[]
}

export type Outage = Pick<GatewayOptions, 'journalSync' | 'planted'> & {
  readonly seed: number
  readonly clients: number
  /** The acts that the clients choose from. */
  readonly names?: readonly string[]
  /** After so many acknowledged writes the power goes; by default at random. */
  readonly after?: number
}

/** One life of a gateway under load, the cut, and what is found afterwards. */
export async function cutPower(
  { world, volume, kept }: { world: World; volume: Volume; kept: Kept },
  outage: Outage,
): Promise<Cut> {
  const { seed, journalSync = false, planted } = outage
  const gateway = await world.gateway({ journalSync, ...(planted !== undefined && { planted }) })
  const target = { port: gateway.port, token: world.token }
  await makeBuckets(kept, target)
  const before = kept.acknowledged
  const load = startLoad(kept, target, outage)
  await load.acknowledged(outage.after ?? 1 + createRandom(seed).below(ACKNOWLEDGED_MAX))
  volume.cut()
  const cutMs = performance.now()
  await dead(world, gateway)
  await load.stop()
  const acknowledged = kept.acknowledged - before
  await volume.restore()
  world.server.restart()
  await world.server.ready()
  const found = await lookAfter(world, kept, journalSync)
  return {
    acknowledged,
    faults: found.faults,
    unchargedMs: found.lost.map((toldMs) => cutMs - toldMs),
  }
}

async function dead({ server }: World, gateway: GatewayAlone): Promise<void> {
  await gateway.kill()
  await killServer(server)
}

/** kill -9 of a server and its backends; resolves when the server has ended. */
export async function killServer({ child }: TestServer): Promise<void> {
  // All of them: a backend that waits for a lock of a dead one does not see that its server is gone.
  const pids = childrenOf(child.pid ?? 0)
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  for (const pid of pids) signalProcess(pid, 'SIGKILL')
}

/** The content that the next life finds. Charges that may be lost are forgotten, with the time of their answers. */
async function lookAfter(world: World, kept: Kept, journalSync: boolean) {
  const gateway = await world.gateway()
  const lost: number[] = []
  if (!journalSync)
    for (const { id, times } of await world.uncharged(kept.receipts.keys())) {
      if (times !== '0') continue
      lost.push(kept.receipts.get(id) ?? 0)
      kept.receipts.delete(id)
    }
  const faults = [
    ...(await chargeFaults(world, kept)),
    ...(await kept.check({ port: gateway.port, token: world.token })),
  ]
  await gateway.stop()
  return { lost, faults: [...faults, ...(await world.faults())] }
}
