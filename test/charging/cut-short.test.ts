// Answers that end early: callers that leave, balances that run out, tokens that are revoked, a model cell that is
// killed in mid-token. The caller gets a message and pays for the spent energy, and nothing stays held.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { DONE, type ScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { bookFaults, chargeOf, joulesOf, leasesReturned } from '../books.ts'
import { readyProgramOf, statusOf } from '../faults/processes.ts'
import { writeRandomLlama } from '../gguf/random-llama.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import {
  assertCut,
  assertProblem,
  closeUpstreams,
  endless,
  model,
  modelAndUpstream,
  NJ_PER_PROMPT_TOKEN,
  NJ_PER_TOKEN,
  post,
  receiptOf,
  upstreamEnergy,
} from '../upstreams/scripted-models.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const CELL = 'nonsense'

let ergon: Ergon
const folder = mkdtempSync(join(tmpdir(), 'ergon-gguf-'))
before(async () => {
  ergon = sharedErgon()
  // Cells read it under a uid of their own.
  chmodSync(folder, 0o755)
  const file = join(folder, 'nonsense.gguf')
  writeRandomLlama(file, { context: 512 })
  await ergon.control('model.add', { file, name: CELL, context: 512 })
  await ergon.waitForModel(CELL)
})
after(async () => {
  await closeUpstreams()
  rmSync(folder, { recursive: true, force: true })
})

async function abandonedBy(upstream: ScriptedUpstream): Promise<void> {
  for (let left = 2400; upstream.abandoned() !== 1; left--) {
    if (left === 0) throw new Error('the upstream was not let go')
    await pause(25)
  }
}

describe('a caller that leaves', { concurrency: 4 }, () => {
  test('in mid-stream pays for what came, and the upstream is let go', async () => {
    const { id, upstream } = await modelAndUpstream(endless(20))
    const leaving = new AbortController()
    const answer = await post(id, { stream: true }, { signal: leaving.signal })
    const reader = answer.body!.getReader()
    for (let chunks = 0; chunks < 3; chunks++) await reader.read()
    leaving.abort()
    await abandonedBy(upstream)
    const charge = await chargeOf(ergon, receiptOf(answer))
    assert.equal(charge.status, 499)
    assert.ok(upstreamEnergy(charge) >= 3n * NJ_PER_TOKEN)
  })
  test('before the answer is charged 499, and the upstream is let go', async () => {
    const { id, upstream } = await modelAndUpstream(() => undefined)
    const leaving = new AbortController()
    const answer = post(id, {}, { signal: leaving.signal })
    while (upstream.asked.length === 0) await pause(10)
    leaving.abort()
    await assert.rejects(answer)
    await abandonedBy(upstream)
    const status = async () =>
      (await ergon.sql('select status from charges where model = $1', [id]))[0]?.['status']
    for (let left = 2400; (await status()) === undefined && left > 0; left--) await pause(25)
    assert.equal(String(await status()), '499')
    // The upstream has read the prompt for it: 25 bytes.
    const [row] = await ergon.sql<{ bytes: Buffer }>('select bytes from charges where model = $1', [
      id,
    ])
    const charge = JSON.parse(String(row?.bytes)) as Parameters<typeof upstreamEnergy>[0]
    assert.equal(upstreamEnergy(charge), 3n * NJ_PER_PROMPT_TOKEN)
  })
})

async function accountWith(pusd: string) {
  const { id } = await ergon.control('account.create', { env: 'test' })
  await ergon.control('funds.add', { account: id, pusd })
  const { token, id: tokenId } = await ergon.control('token.create', { account: id })
  return { id, token, tokenId }
}

describe('a right that ends in mid-stream', { concurrency: 4 }, () => {
  test('a balance that runs out cuts the stream, at zero and not below', async () => {
    // About 30 tokens of 0.02 J at 69,444 pUSD a joule.
    const poor = await accountWith('40000')
    const id = await model(endless(10))
    const answer = await post(id, { stream: true }, { token: poor.token })
    const { charge } = await assertCut(answer, 402, 'balance_depleted')
    assert.equal(charge.charge_pusd, '40000')
    // The head said what there was, and no more.
    assert.equal(answer.headers.get('x-energy-joules'), joulesOf(charge))
    const [wallet] = await ergon.sql('select posted from wallets where id = $1', [
      `money:${poor.id}`,
    ])
    assert.equal(wallet?.['posted'], '0')
    const events = await ergon.sql('select type from events where account = $1 order by sequence', [
      poor.id,
    ])
    assert.deepEqual(
      events.map(({ type }) => type),
      ['balance.low', 'balance.depleted'],
    )
    const next = await post(id, {}, { token: poor.token })
    assert.equal(next.status, 402)
  })
  test('a balance that runs out ends an answer that is not streamed, and what was paid is given', async () => {
    const poor = await accountWith('40000')
    const id = await model(endless(10))
    const answer = await post(id, {}, { token: poor.token })
    const body = (await answer.json()) as {
      choices: { message: { content: string }; finish_reason: string }[]
    }
    assert.equal(answer.status, 200, JSON.stringify(body))
    assert.equal(answer.headers.get('x-cut-short'), 'balance_depleted')
    assert.equal(body.choices[0]?.finish_reason, 'length')
    assert.match(body.choices[0]?.message.content ?? '', /^first( token)+$/)
    const charge = await chargeOf(ergon, receiptOf(answer))
    assert.deepEqual([charge.status, charge.charge_pusd], [200, '40000'])
    assert.equal(answer.headers.get('x-energy-joules'), joulesOf(charge))
    const next = await post(id, {}, { token: poor.token })
    assert.equal(next.status, 402)
  })
  test('a token that is revoked cuts the stream', async () => {
    const owner = await accountWith('5000000000')
    const id = await model(endless(20))
    const answer = await post(id, { stream: true }, { token: owner.token })
    await ergon.control('token.revoke', { token: owner.tokenId })
    await assertCut(answer, 401, 'token_revoked')
  })
  for (const stream of [true, false])
    test(`max_tokens ends an answer whose upstream goes on, ${stream ? '' : 'not '}streamed`, async () => {
      const { id, upstream } = await modelAndUpstream(endless(5))
      const answer = await post(id, { stream, max_tokens: 4 })
      const text = await answer.text()
      assert.equal(answer.status, 200, text)
      assert.match(text, /"finish_reason":"length"/)
      assert.equal(text.split(' token').length, 4)
      const charge = await chargeOf(ergon, receiptOf(answer))
      assert.equal(charge.completion_tokens, '4')
      assert.ok(upstreamEnergy(charge) <= 4n * NJ_PER_TOKEN + 3n * NJ_PER_PROMPT_TOKEN)
      assert.ok(Number(answer.headers.get('x-energy-joules')) >= Number(joulesOf(charge)))
      await abandonedBy(upstream)
    })
})

describe('a model cell', () => {
  const chat = (body: object) => post(CELL, { max_tokens: 200, ...body })

  test('has no network, nor has a signer', async () => {
    const { isolation } = await statusOf(ergon)
    if (isolation.level === 'plain') return
    const networkOf = async (cell: string) =>
      readlinkSync(`/proc/${await readyProgramOf(ergon, cell)}/ns/net`)
    const host = await networkOf('gw-1')
    for (const cell of [`model-${CELL}`, 'signer-1']) assert.notEqual(await networkOf(cell), host)
  })

  test('refuses a prompt longer than its context', async () => {
    const messages = [{ role: 'user', content: 'much too long '.repeat(400) }]
    await assertProblem(await chat({ messages }), 400, 'context_length_exceeded')
    await assertProblem(await chat({ messages, stream: true }), 400, 'context_length_exceeded')
  })

  test('that is killed in mid-token is told inside the stream, and comes back', async () => {
    // Asked before: 400 tokens of so small a model are soon said.
    const program = await readyProgramOf(ergon, `model-${CELL}`)
    const unstreamed = chat({ max_tokens: 400, temperature: 0 })
    const answer = await chat({ stream: true, max_tokens: 400, temperature: 0 })
    const reader = answer.body!.getReader()
    const first = await reader.read()
    process.kill(program, 'SIGKILL')
    let text = new TextDecoder().decode(first.value)
    for (let next = await reader.read(); !next.done; next = await reader.read())
      text += new TextDecoder().decode(next.value)
    assert.ok(text.endsWith(DONE))
    assert.ok(text.includes('"error"') && text.includes('upstream_failed'), text.slice(-500))
    const charge = await chargeOf(ergon, receiptOf(answer))
    assert.equal(charge.status, 502)
    assert.ok(BigInt(charge.energy_nj) > 0n)
    assert.ok(Number(charge.completion_tokens) >= 1)

    // Of the other one nothing came: what the cell said that it took is the operator's.
    const nothing = await unstreamed
    await assertProblem(nothing, 502, 'upstream_failed')
    const unpaid = await chargeOf(ergon, receiptOf(nothing))
    assert.equal(unpaid.completion_tokens, undefined)
    const [borne] = await ergon.sql(
      `select energy_nj::text from charges
       where account = 'nobody' and free and convert_from(bytes, 'UTF8') like $1`,
      [`%"request":"${nothing.headers.get('x-request-id')}"%`],
    )
    assert.ok(BigInt(String(borne?.['energy_nj'])) > 0n)

    // Until it is back it is said to be loading, with the time to wait.
    let again = await chat({ max_tokens: 3 })
    for (let left = 600; again.status !== 200 && left > 0; left--) {
      assert.ok(Number(again.headers.get('retry-after')) > 0)
      await assertProblem(again, 503, 'model_loading')
      await pause(100)
      again = await chat({ max_tokens: 3 })
    }
    assert.equal(again.status, 200)
    await again.text()

    // Killed while nothing runs, and asked at once, before anybody can have heard of it.
    process.kill(await readyProgramOf(ergon, `model-${CELL}`), 'SIGKILL')
    await assertProblem(await chat({ max_tokens: 3 }), 503, 'model_loading')
    // Nobody waits for the life that begins.
    await ergon.control('model.remove', { model: CELL })
  })
})

test('after all of it, and of the parts before, no hold is stuck and the books add up', async () => {
  assert.ok(await leasesReturned(ergon, ergon.account))
  assert.deepEqual(await bookFaults(ergon), [])
})
