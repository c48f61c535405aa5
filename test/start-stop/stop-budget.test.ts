// An orderly stop at its worst: an upstream that never answers, one that never ends, and processes of ours that
// ignore the signal. All must end within one budget, and no reported charge is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { DONE, plainChunk, type Script } from '#inference/testing/scripted-upstream.ts'
import { chargeOf } from '../books.ts'
import { ledgerFaults } from '../faults/check.ts'
import { readyProgramOf } from '../faults/processes.ts'
import { PLAIN } from '../settings.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream } from '../upstreams.ts'

product(PLAIN)

// The least time that service managers give before they kill.
const STOP_MS_MAX = 20_000
const OPTIONS = { timeout: 120_000 }

const hung: Script = () => undefined
const endless: Script = async (_asked, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (; !response.destroyed; await pause(100)) response.write(plainChunk('on and '))
}

const chat = (ergon: Ergon, model: string, stream: boolean) =>
  fetch(`${ergon.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
  })

async function gone(pid: number, limitMs: number): Promise<void> {
  for (const last = performance.now() + limitMs; ; await pause(20)) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    assert.ok(performance.now() < last, `it still runs after ${limitMs} ms`)
  }
}

test(
  'a stop ends in time whatever hangs, and what was cut is told and charged',
  OPTIONS,
  async (t) => {
    const ergon = sharedErgon()
    const upstreams = [
      await addUpstream(ergon, 'hung', { script: hung }),
      await addUpstream(ergon, 'endless', { script: endless }),
    ]
    t.after(() => Promise.all(upstreams.map((upstream) => upstream.close())))
    const silent = chat(ergon, 'hung', false)
    const stream = await chat(ergon, 'endless', true)
    const text = stream.text()
    while (upstreams.some(({ asked }) => asked.length === 0)) await pause(10)
    const stuck = ['jobs', 'signer-1'].map((name) => readyProgramOf(ergon, name))
    for (const pid of await Promise.all(stuck)) process.kill(pid, 'SIGSTOP')
    process.kill(ergon.pid, 'SIGTERM')
    await gone(ergon.pid, STOP_MS_MAX)

    const refused = await silent
    assert.equal(refused.status, 503)
    assert.match(await refused.text(), /draining/)
    const cut = await text
    assert.ok(cut.includes('draining') && cut.endsWith(DONE), cut.slice(-300))
    await ergon.resume()
    for (const { headers } of [refused, stream]) {
      const charge = await chargeOf(ergon, String(headers.get('x-receipt-id')))
      assert.equal(charge.status, 503)
    }
    assert.doesNotMatch(
      ergon.stderr(),
      /Posted what an earlier life/,
      'all was posted before it ended',
    )
    assert.deepEqual(await ledgerFaults(ergon), [])
  },
)
