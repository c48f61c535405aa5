// The CPU of a request until a wait is its own, not that of the request that goes on meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { chargeEnergy } from '#contract/ledger/charge.ts'
import type { Handler } from './reply.ts'
import { startTestHttp, type TestHttp } from './test-server.fixture.ts'

const known: Handler = async () => ({ kind: 'known', status: 200, body: () => '{}' })
const NS_PER_MS = 1_000_000
/** A CPU-second costs a joule here. */
const NJ_PER_MS = 1_000_000n
const CPU_MS = 40

type Wait = 'identify' | 'admit' | 'body'

/** A body whose end comes later. */
const lateBody = (end: Promise<void>) =>
  new ReadableStream({
    async start(body) {
      body.enqueue(Buffer.from('{'))
      await end
      body.enqueue(Buffer.from('}'))
      body.close()
    },
  })

/** Bills of two requests, in ms of CPU: one uses 40 ms and waits, the other one is answered meanwhile. */
async function bills(waitsIn: Wait) {
  const held = Promise.withResolvers<void>()
  let isHeld = false
  await using http: TestHttp = await startTestHttp(
    { '/it': known },
    {
      charging: {
        answered: async () => (isHeld && waitsIn === 'admit' ? await held.promise : undefined),
      },
      identifying(account) {
        if (account !== 'slow') return undefined
        http.gateway.process.cpuNs += CPU_MS * NS_PER_MS
        return waitsIn === 'identify' ? held.promise : undefined
      },
    },
  )
  const ask = async (account: string, more: RequestInit = {}) =>
    await fetch(`http://127.0.0.1:${http.port}/it`, {
      headers: { 'x-account': account, 'content-type': 'application/json' },
      ...more,
    })
  await ask('quick')
  isHeld = true
  const body = { method: 'POST', body: lateBody(held.promise), duplex: 'half' } as const
  const slow = ask('slow', waitsIn === 'body' ? body : {})
  await sleep(100)
  await ask('quick')
  held.resolve()
  assert.equal((await slow).status, 200)
  await http.gateway.session.tickNow(AbortSignal.timeout(60_000))
  const msOf = (account: string) =>
    http.gateway.charges
      .filter((charge) => charge.account === account)
      .map((charge) => Number(chargeEnergy(charge) / NJ_PER_MS))
  return { slow: msOf('slow'), quick: msOf('quick') }
}

for (const waitsIn of ['identify', 'admit', 'body'] as const)
  test(`a request that waits in ${waitsIn} pays for its CPU until then, and its neighbour does not`, async () => {
    assert.deepEqual(await bills(waitsIn), { slow: [CPU_MS], quick: [0, 0] })
  })
