// CPU of live streams: of the gateway and of the servers of the state, for each stream and second, alone and together. The
// CPU of the product without streams is taken off.
import { setTimeout as pause } from 'node:timers/promises'
import { openOwner } from '../test/webhooks/owner.ts'
import type { Ergon } from '../test/start-ergon.ts'
import { cpuUs } from './processes.ts'
import { pidsOf, startProduct } from './product.ts'
import type { Section } from './report.ts'

const STREAMS = [1, 16]
const SECONDS = { whole: 60, quick: 20 }
const WARM_UP_MS = 5000

export async function runLive(isQuick = false): Promise<Section> {
  const seconds = isQuick ? SECONDS.quick : SECONDS.whole
  await using ergon = await startProduct()
  const gateway = await ergon.pidOf('gw-1')
  const read = () => ({
    gatewayUs: cpuUs(gateway),
    serverUs: pidsOf(ergon.pid, 'postgres').reduce((sum, pid) => sum + cpuUs(pid), 0),
  })
  const during = async () => {
    await pause(WARM_UP_MS)
    const began = read()
    await pause(seconds * 1000)
    const ended = read()
    return {
      gatewayUs: ended.gatewayUs - began.gatewayUs,
      serverUs: ended.serverUs - began.serverUs,
    }
  }
  const none = await during()
  const found: { count: number; gatewayMs: number; serverMs: number }[] = []
  for (const count of STREAMS) {
    const stop = await openStreams(ergon, count)
    const used = await during()
    await stop()
    const each = (us: number) => us / 1000 / seconds / count
    found.push({
      count,
      gatewayMs: each(used.gatewayUs - none.gatewayUs),
      serverMs: each(used.serverUs - none.serverUs),
    })
  }
  const [alone] = found
  return {
    name: 'live',
    title: 'Live streams',
    bars: [
      {
        what: 'a core of the gateway for one stream',
        value: (alone?.gatewayMs ?? Number.NaN) / 10,
        most: 1,
        digits: 2,
        unit: '%',
      },
    ],
    tables: [
      {
        caption: `CPU for each stream and second, of ${seconds} s, accounts at rest`,
        columns: ['streams, an account each', 'gateway', 'PostgreSQL'],
        rows: found.map(({ count, gatewayMs, serverMs }) => [
          String(count),
          `${gatewayMs.toFixed(2)} ms`,
          `${serverMs.toFixed(2)} ms`,
        ]),
      },
    ],
    notes: ['The CPU of the product without streams is taken off.'],
  }
}

/** Opens a stream for each of some new accounts; the result ends them. */
async function openStreams(ergon: Ergon, count: number): Promise<() => Promise<void>> {
  const owners = await Promise.all(Array.from({ length: count }, () => openOwner(ergon)))
  const ends = new AbortController()
  const reads = owners.map(async ({ token }) => {
    const answer = await fetch(`${ergon.baseUrl}/v1/live`, {
      headers: { authorization: `Bearer ${token}` },
      signal: ends.signal,
    })
    if (answer.status !== 200) throw new Error(await answer.text())
    for await (const _ of answer.body ?? []);
  })
  const all = Promise.allSettled(reads)
  return async () => {
    ends.abort()
    await all
  }
}
