// The installation's own probe in a running product: real requests, billed to the operator's account, for anyone to read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { z } from 'zod'
import { probeReply, type ProbeReply } from '#contract/status/probe.ts'
import { receipt as receiptReply } from '#contract/service-replies.ts'
import { product, sharedErgon } from '../product.ts'
import { CHAT, MODELS } from '../settings.ts'
import { EACH_SECOND, stateOf, untilShown } from './status-page.ts'

product(MODELS, { ERGON_PROBE_SECONDS: '1', ...EACH_SECOND })

const PROBED_MS_MAX = 120_000
const componentOf = (reply: ProbeReply, id: string) =>
  reply.components.find((one) => one.id === id) ?? assert.fail(`no component ${id}`)

/** As anyone reads it: without a token. */
async function untilProbed(shows: (reply: ProbeReply) => boolean): Promise<ProbeReply> {
  const endMs = performance.now() + PROBED_MS_MAX
  for (;;) {
    const answer = await fetch(`${sharedErgon().baseUrl}/v1/probe`)
    const reply = probeReply.parse(await answer.json())
    if (shows(reply)) return reply
    assert.ok(performance.now() < endMs, `the probe shows ${JSON.stringify(reply).slice(0, 3000)}`)
    await pause(500)
  }
}

test('each component that is there works, with the figures of its receipt; the others say why nothing is asked', async () => {
  const ergon = sharedErgon()
  await ergon.waitForModel(CHAT)
  const asked = ['api', 'inference', 'embeddings', 'storage', 'ledger', 'receipts']
  const reply = await untilProbed((next) =>
    asked.every((id) => componentOf(next, id).state === 'ok'),
  )
  assert.equal(reply.every_seconds, 1)
  const { last } = componentOf(reply, 'inference')
  assert.ok(last !== null && BigInt(last.energy_nj) > 0n)
  const { charge } = await receiptOf(last.receipt_id)
  assert.equal(
    charge.parts.reduce((sum, { energy_nj: energy }) => sum + BigInt(energy), 0n),
    BigInt(last.energy_nj),
  )
  const stored = componentOf(reply, 'storage').last
  assert.ok(stored !== null && stored.receipts.length >= 3)
  let sum = 0n
  for (const { id, energy_nj: energy } of stored.receipts) {
    assert.equal((await receiptOf(id)).charge.energy_nj, energy)
    sum += BigInt(energy)
  }
  assert.equal(stored.energy_nj, String(sum))
  const [today] = componentOf(reply, 'inference').days
  assert.equal(today?.failures, 0)
  const database = componentOf(reply, 'databases')
  assert.deepEqual([database.state, database.last], ['not_probed', null])
  assert.match(database.reason ?? '', /no database named "probe"/)
  assert.match(componentOf(reply, 'payments').reason ?? '', /moves money/)
})

test('the token of the probe is in the list of the operator; a revoked one is replaced', async () => {
  const ergon = sharedErgon()
  const mine = async () => {
    const tokens = await ergon.control('token.list')
    return tokens.filter(({ name }) => name === "The installation's own probe")
  }
  const [before] = await mine()
  assert.ok(before !== undefined)
  const revoked = await ergon.cli('admin', 'token', 'revoke', before.id)
  assert.equal(revoked.code, 0, revoked.stderr)
  const revokedAt = new Date().toISOString()
  await untilProbed((next) => (componentOf(next, 'ledger').last?.at ?? '') > revokedAt)
  assert.equal((await mine()).length, 2)
})

test('the status page shows a part that fails the probe as degraded', async () => {
  const ergon = sharedErgon()
  await ergon.sql(
    `insert into probe_results (component, at, state, reason)
     values ('receipts', now() + interval '1 minute', 'failed', 'planted')`,
  )
  await untilShown(ergon, (document) => stateOf(document, 'receipts') === 'degraded')
  const shown = await untilProbed((next) => componentOf(next, 'receipts').state === 'failed')
  assert.equal(componentOf(shown, 'receipts').reason, 'planted')
  await ergon.sql(`delete from probe_results where reason = 'planted'`)
  await untilShown(ergon, (document) => stateOf(document, 'receipts') === 'ok')
})

test('`ergon probe` prints the last probes, and days', async () => {
  const { cli } = sharedErgon()
  const last = await cli('probe')
  assert.match(last.stdout, /^storage +ok +\d+ +0\.\d{1,9} /m)
  assert.match(last.stdout, /^payments +not_probed .*a payment moves money$/m)
  const days = await cli('probe', '--days', '2')
  assert.match(days.stdout, /^ledger +\d{4}-\d\d-\d\d +\d+ +0 /m)
  const json = await cli('probe', '--json')
  assert.equal(probeReply.parse(JSON.parse(json.stdout)).object, 'probe')
})

test('days of the query are 1 to 90', async () => {
  const answer = await fetch(`${sharedErgon().baseUrl}/v1/probe?days=91`)
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /Could not accept days: must be at most 90/)
})

async function receiptOf(id: string): Promise<z.infer<typeof receiptReply>> {
  const ergon = sharedErgon()
  const headers = { authorization: `Bearer ${ergon.token}`, accept: 'application/json' }
  const endMs = performance.now() + PROBED_MS_MAX
  for (;;) {
    const answer = await fetch(`${ergon.baseUrl}/v1/receipts/${id}`, { headers })
    if (answer.status === 200) return receiptReply.parse(await answer.json())
    assert.ok(performance.now() < endMs, `the receipt is not signed: ${answer.status}`)
    await pause(500)
  }
}
