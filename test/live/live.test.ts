// The live stream of a running product: its sums are those of receipts and usage, it resumes where it ended, tells
// states as they change, and ends for callers who may not read any more.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { ChargePart } from '#contract/ledger/charge.ts'
import { bandOfParts, knownBy, knownOfSum } from '#contract/ledger/known.ts'
import { LIVE_CHARGES_MAX, LIVE_STREAMS_MAX } from '#contract/live/live.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'
import { askLive, hear, type Heard } from './stream.ts'

product(PLAIN)

let ergon: Ergon
before(() => (ergon = sharedErgon()))

type Caller = { readonly account: string; readonly token: string; readonly tokenId: string }
type Message = Extract<Heard, { id: string }>

async function newCaller(): Promise<Caller> {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  await ergon.control('funds.add', { account, pusd: '5000000000000' })
  const { id, token } = await ergon.control('token.create', { account, scope: 'billing-admin' })
  return { account, token, tokenId: id }
}

async function call({ token }: Caller, path: string, init: RequestInit = {}) {
  const json = 'application/json'
  const headers = { authorization: `Bearer ${token}`, 'content-type': json, accept: json }
  const answer = await fetch(`${ergon.baseUrl}${path}`, { ...init, headers })
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
}
const post = (caller: Caller, path: string, body: object) =>
  call(caller, path, { method: 'POST', body: JSON.stringify(body) })

/** The first message that is like this; a stream that ends before fails. */
async function messageLike(
  heard: AsyncIterator<Heard>,
  isLike: (message: Message['message']) => boolean,
): Promise<Message> {
  for (;;) {
    const { value, done } = await heard.next()
    assert.ok(done !== true && 'id' in value, `the stream ended: ${JSON.stringify(value)}`)
    if (isLike(value.message)) return value
  }
}
const endOf = async (heard: AsyncIterator<Heard>) => {
  for (;;) {
    const { value, done } = await heard.next()
    assert.ok(done !== true, 'the stream ended without a word')
    if ('event' in value) return value
  }
}

type ChargeRow = { id: string; number: string; parts: ChargePart[] }
const chargesOf = ({ account }: Caller) =>
  ergon.sql<ChargeRow>(
    `select id, account_seq::text as number, convert_from(bytes, 'UTF8')::json -> 'parts' as parts
     from charges where account = $1`,
    [account],
  )

type Receipts = {
  data: {
    id: string
    account_seq: string
    status: number
    energy_nj: string
    charge_pusd: string
  }[]
}

test('the sums of a message are those of the receipts up to its id, and usage has the same', async () => {
  const caller = await newCaller()
  for (let nth = 0; nth < 5; nth++) assert.equal((await call(caller, '/v1/models')).status, 200)
  const heard = hear(ergon, caller.token, { seconds: 4 })
  const messages: Message[] = [await messageLike(heard, () => true)]
  for (let nth = 0; nth < 4; nth++) await call(caller, '/v1/models')
  assert.equal((await call(caller, '/v1/usage?from=x')).status, 400)
  messages.push(await messageLike(heard, ({ today }) => today.requests >= 10))
  const end = await endOf(heard)
  assert.equal(end.event, 'end')
  const { data } = (await call(caller, '/v1/receipts?limit=1000')).json as unknown as Receipts
  for (const { id, message } of messages) {
    const until = data.filter(({ account_seq: seq }) => BigInt(seq) <= BigInt(id))
    const sum = (key: 'energy_nj' | 'charge_pusd') =>
      until.reduce((total, one) => total + BigInt(one[key]), 0n).toString()
    assert.deepEqual(
      [message.today.requests, message.today.energy_nj, message.today.charge_pusd],
      [until.length, sum('energy_nj'), sum('charge_pusd')],
    )
  }
  const charges = await chargesOf(caller)
  const told = messages.flatMap(({ message }) => message.charges ?? [])
  assert.ok(told.some(({ status }) => status === 400))
  for (const { id, status = 200 } of told)
    assert.equal(status, data.find((one) => one.id === id)?.status)
  for (const { id, message } of messages) {
    const until = charges.filter(({ number }) => BigInt(number) <= BigInt(id))
    const { method, bandPct } = bandOfParts(until.flatMap(({ parts }) => parts))
    const [nj, measuredNj] = [BigInt(message.today.energy_nj), BigInt(message.today.measured_nj)]
    assert.deepEqual(
      [knownOfSum({ nj, measuredNj }), message.today.band_pct],
      [knownBy(method), bandPct],
    )
    for (const one of message.charges ?? []) {
      const own = bandOfParts(charges.find(({ id: ownId }) => ownId === one.id)?.parts ?? [])
      assert.deepEqual([one.method, one.band_pct], [own.method, own.bandPct])
    }
  }
  // Its own charge is what its end said.
  const own = data.find(({ energy_nj: energy }) => energy === end.data['energy_nj'])
  assert.equal(own?.charge_pusd, end.data['charge_pusd'])
  const last = messages.at(-1)
  const { json } = await call(caller, `/v1/usage?from=${last?.message.today.day}&group_by=day`)
  const [day] = json['data'] as { requests: number; energy_nj: string }[]
  const later = data.filter(({ account_seq: seq }) => BigInt(seq) > BigInt(last?.id ?? 0))
  // The list of receipts was charged too, after it was read.
  assert.equal(day?.requests, (last?.message.today.requests ?? 0) + later.length + 1)
})

test('a stream goes on after the id of another one, and counts what it does not list', async () => {
  const caller = await newCaller()
  const first = await messageLike(hear(ergon, caller.token, { seconds: 1 }), () => true)
  const made = LIVE_CHARGES_MAX + 4
  for (let nth = 0; nth < made; nth++) await call(caller, '/v1/models')
  // The first stream's own charge counts too.
  await call(caller, '/v1/usage/last')
  let told = 0
  let listed = 0
  const again = hear(ergon, caller.token, { after: first.id, seconds: 30 })
  let wholes = 0
  const last = await messageLike(again, ({ whole, charges = [], charges_more: more = 0 }) => {
    assert.ok(charges.length <= LIVE_CHARGES_MAX)
    if (whole === true) wholes += 1
    listed += charges.length
    told += charges.length + more
    return told >= made
  })
  assert.equal(wholes, 1, 'a resumed stream begins whole, too')
  assert.equal(told, Number(last.id) - Number(first.id))
  assert.ok(listed < told, 'more charges than a message lists')
  await again.return(undefined)
})

test('an ordinary message has at most 1 kB', async () => {
  const caller = await newCaller()
  const heard = hear(ergon, caller.token)
  await messageLike(heard, () => true)
  for (let nth = 0; nth < 8; nth++) await call(caller, '/v1/models')
  const { text } = await messageLike(heard, ({ charges }) => charges !== undefined)
  assert.ok(Buffer.byteLength(text) <= 1000, `${Buffer.byteLength(text)} bytes:\n${text}`)
  await heard.return(undefined)
})

test('states are told whole at first, then as they change, and when they are gone', async () => {
  const caller = await newCaller()
  const heard = hear(ergon, caller.token)
  const { message } = await messageLike(heard, () => true)
  assert.equal(message.whole, true)
  assert.deepEqual([message.webhooks, message.budgets, message.resources], [[], [], []])
  assert.equal(message.balance?.balance_pusd, '5000000000000')

  const hook = { url: 'http://127.0.0.1:9/hook', events: ['balance.low'] }
  const webhook = String((await post(caller, '/v1/webhooks', hook)).json['id'])
  const added = await messageLike(heard, ({ webhooks = [] }) =>
    webhooks.some(({ id }) => id === webhook),
  )
  assert.equal(added.message.whole, undefined)
  await call(caller, `/v1/webhooks/${webhook}`, { method: 'DELETE' })
  await messageLike(heard, ({ webhooks = [] }) =>
    webhooks.some((one) => one.id === webhook && 'gone' in one),
  )
  const limited = { name: 'limited', energy_budget: '50 kJ/day' }
  const token = (await post(caller, '/v1/tokens', limited)).json as { id: string; token: string }
  const ofBudget = (isLike: (used: bigint) => boolean) =>
    messageLike(heard, ({ budgets = [] }) =>
      budgets.some(
        (one) => one.id === token.id && 'used_nj' in one && isLike(BigInt(String(one.used_nj))),
      ),
    )
  await ofBudget((used) => used === 0n)
  await call({ ...caller, token: token.token }, '/v1/models')
  await ofBudget((used) => used > 0n)
  await heard.return(undefined)
})

test('budgets of tokens and databases are in one list, with their use and state', async () => {
  const caller = await newCaller()
  const one = (await post(caller, '/v1/tokens', { name: 'one', energy_budget: '10 J/day' })).json
  const two = (await post(caller, '/v1/tokens', { name: 'two', energy_budget: '2 kJ/day' })).json
  assert.equal((await call({ ...caller, token: String(two['token']) }, '/v1/models')).status, 200)
  type Budget = Record<string, string>
  const budgets = async () =>
    (await call(caller, '/v1/budgets')).json as unknown as { data: Budget[]; has_more: boolean }
  const [first, second] = (await budgets()).data
  assert.deepEqual(
    [first?.['id'], first?.['kind'], first?.['name'], first?.['energy_budget'], first?.['used_nj']],
    [one['id'], 'token', 'one', '10 J/day', '0'],
  )
  assert.deepEqual([second?.['budget_nj'], second?.['state']], ['2000000000000', 'within'])
  assert.ok(BigInt(second?.['used_nj'] ?? 0) > 0n)
  assert.match(first?.['renewed_at'] ?? '', /T00:00:00\.000Z$/)
  // Less than a request may cost: the API takes no such budget, and 10 J would take four hundred requests.
  await ergon.sql('select set_budget($1, $2, 50000000)', [one['id'], caller.account])
  assert.equal((await call({ ...caller, token: String(one['token']) }, '/v1/usage')).status, 429)
  assert.equal((await budgets()).data[0]?.['state'], 'exceeded')
  const { json } = await call(caller, '/v1/budgets?limit=1')
  const rest = await call(caller, `/v1/budgets?cursor=${String(json['next_cursor'])}`)
  assert.deepEqual(
    (rest.json as { data: Budget[] }).data.map(({ id }) => id),
    [two['id']],
  )
  const { code, stdout } = await ergon.cli('budgets', '--json')
  assert.equal(code, 0)
  assert.ok(Array.isArray((JSON.parse(stdout) as { data: unknown }).data))
})

test('any id of an account leads to its thing, and none of another account', async () => {
  const [caller, other] = [await newCaller(), await newCaller()]
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['balance.low'] }
  const webhook = String((await post(caller, '/v1/webhooks', hook)).json['id'])
  const receipts = (await call(caller, '/v1/receipts')).json as { data: { id: string }[] }
  const receipt = receipts.data[0]?.id ?? ''
  const ledger = (await call(caller, '/v1/ledger?kind=test_funds')).json as {
    data: { id: string }[]
  }
  const member = String((await call(caller, '/v1/members/me')).json['id'])
  const expected = [
    [receipt, 'receipt', 'webhook.create'],
    [receipt.replace('rcpt_', 'req_'), 'receipt', 'webhook.create'],
    [webhook, 'webhook', hook.url],
    [caller.tokenId, 'token', undefined],
    [member, 'member', undefined],
    [ledger.data[0]?.id ?? '', 'transfer', 'test_funds'],
  ] as const
  for (const [id, kind, name] of expected) {
    const { status, json } = await call(caller, `/v1/lookup/${id}`)
    assert.deepEqual([status, json['kind']], [200, kind], id)
    if (name !== undefined) assert.equal(json['name'], name)
    assert.equal(
      (await call(caller, String(json['path']))).status < 300,
      true,
      String(json['path']),
    )
    const theirs = await call(other, `/v1/lookup/${id}`)
    assert.deepEqual([theirs.status, theirs.json['title']], [404, 'not_found'], id)
  }
  for (const id of ['tr_', 'tr_x', 'wl_1', 'x', 'tr_99999999999999999999999999'])
    assert.equal((await call(caller, `/v1/lookup/${id}`)).status, 404, id)
})

test('a stream ends when its token is revoked, with its cost', async () => {
  const caller = await newCaller()
  const heard = hear(ergon, caller.token)
  await messageLike(heard, () => true)
  await ergon.control('token.revoke', { token: caller.tokenId })
  const { event, data } = await endOf(heard)
  assert.deepEqual([event, data['code']], ['error', 'token_revoked'])
  assert.match(data['receipt_id'] ?? '', /^rcpt_/)
  assert.equal((await askLive(ergon, caller.token)).status, 401)
})

test('a stream ends when its account is to be deleted', async () => {
  const caller = await newCaller()
  const heard = hear(ergon, caller.token)
  await messageLike(heard, () => true)
  const asked = { confirm: caller.account }
  const { status } = await call(caller, '/v1/account', {
    method: 'DELETE',
    body: JSON.stringify(asked),
  })
  assert.equal(status, 202)
  const { event, data } = await endOf(heard)
  assert.deepEqual([event, data['code']], ['error', 'account_deleting'])
})

test('an account has so many streams at once, and one more when one of them has ended', async () => {
  const caller = await newCaller()
  const streams = Array.from({ length: LIVE_STREAMS_MAX }, () => hear(ergon, caller.token))
  await Promise.all(streams.map((heard) => messageLike(heard, () => true)))
  const refused = await askLive(ergon, caller.token)
  assert.equal(refused.status, 429)
  assert.equal(((await refused.json()) as { title: string }).title, 'too_many_requests')
  await streams[0]?.return(undefined)
  for (;;) {
    const answer = await askLive(ergon, caller.token, { seconds: 1 })
    await answer.text()
    if (answer.status === 200) break
  }
  await Promise.all(streams.map((heard) => heard.return(undefined)))
})

test('values that are none are refused, and a HEAD has no body', async () => {
  const caller = await newCaller()
  for (const [query, param] of [
    ['seconds=0', 'seconds'],
    ['seconds=301', 'seconds'],
    ['seconds=1.5', 'seconds'],
    ['after=x', 'after'],
    ['colour=red', 'colour'],
  ]) {
    const { status, json } = await call(caller, `/v1/live?${query}`)
    assert.deepEqual([status, (json['error'] as { param: string }).param], [400, param], query)
  }
  const headers = { authorization: `Bearer ${caller.token}` }
  const head = await fetch(`${ergon.baseUrl}/v1/live`, { method: 'HEAD', headers })
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('a stop of the product ends streams at once, and says why', async () => {
  const caller = await newCaller()
  const heard = hear(ergon, caller.token)
  await messageLike(heard, () => true)
  const [{ event, data }] = await Promise.all([endOf(heard), ergon.restart(ergon.life)])
  assert.deepEqual([event, data['code']], ['error', 'draining'])
  // A request that a stop has to cut says less.
  assert.match(data['message'] ?? '', /the stream ends/)
})
