// Points by vouchers: redeemed once, spent, expired; and the ledger of the account, which adds up to the balance.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { balanceReply, ledgerList, voucherReply } from '#contract/payments/payments.ts'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'
import { newPayer, total, walkLedger, type Payer } from './client.ts'

product(PLAIN)

const DOLLAR = 1_000_000_000_000n
const PARALLEL = 50

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

type Voucher = Parameters<typeof ergon.control<'voucher.create'>>[1]
const voucher = async (asked: Partial<Voucher> = {}): Promise<string> => {
  const [made] = await ergon.control('voucher.create', { pusd: String(DOLLAR), ...asked })
  return made?.code ?? ''
}
const redeem = (payer: Payer, code: string) => payer.call('POST', '/v1/vouchers/redeem', { code })
const balanceOf = async (payer: Payer) =>
  balanceReply.parse((await payer.call('GET', '/v1/balance')).json)
const codeOf = ({ json }: { readonly json: Readonly<Record<string, unknown>> }) => json['title']

test('a voucher becomes balance, the balance is spent, and the ledger has each posting', async () => {
  const payer = await newPayer(ergon)
  const [first, second] = [await balanceOf(payer), await balanceOf(payer)]
  assert.equal(first.funded, false)
  const freeLeft = ({ free_left_nj: nj }: typeof first) => BigInt(nj ?? -1)
  assert.ok(freeLeft(first) <= 50_000_000_000_000n && freeLeft(second) > 0n)
  assert.ok(freeLeft(second) < freeLeft(first), 'the first reading was paid by the free joules')
  const redeemed = await redeem(payer, (await voucher()).toUpperCase().replaceAll('-', ''))
  assert.equal(redeemed.status, 200, redeemed.text)
  const { id, amount_pusd: amount, unit } = voucherReply.parse(redeemed.json)
  assert.deepEqual([amount, unit], [String(DOLLAR), 'tUSD'])
  assert.equal((await balanceOf(payer)).free_left_nj, null)

  const used = await payer.call('GET', '/v1/models')
  const receipt = used.headers.get('x-receipt-id') ?? ''
  const { sums, entries } = await walkLedger(payer, 'limit=2')
  const spent = entries.find((entry) => entry.id === receipt)
  assert.ok(spent && BigInt(spent.amount_pusd) < 0n && BigInt(spent.energy_nj ?? 0) > 0n)
  const [came] = entries.filter(({ kind }) => kind === 'voucher')
  assert.deepEqual([came?.amount_pusd, came?.reference], [String(DOLLAR), id])
  assert.equal(total(entries), BigInt(sums?.in_pusd ?? 0) - BigInt(sums?.out_pusd ?? 0))
  assert.equal(entries.length, sums?.entries)

  const balance = await balanceOf(payer)
  assert.equal(balance.funded, true)
  const left = balance.lots.reduce((sum, lot) => sum + BigInt(lot.remaining_pusd), 0n)
  assert.equal(left, BigInt(balance.balance_pusd))
  assert.ok(left < DOLLAR && left > 0n)
})

test('the pages of one walk add up to the balance of its first page, whatever is charged meanwhile', async () => {
  const payer = await newPayer(ergon)
  for (let made = 0; made < 3; made++) await redeem(payer, await voucher())
  for (let made = 0; made < 6; made++) await payer.call('GET', '/v1/models')
  const { entries, sums } = await walkLedger(payer, 'limit=3', () =>
    payer.call('GET', '/v1/models'),
  )
  assert.equal(total(entries), BigInt(sums?.in_pusd ?? 0) - BigInt(sums?.out_pusd ?? 0))
  assert.equal(new Set(entries.map(({ id }) => id)).size, sums?.entries)
  // All of it now, by the books.
  const all = await walkLedger(payer, 'limit=1000')
  const [wallet] = await ergon.sql(
    `select (posted + (select coalesce(sum(charge_pusd), 0) from charges
       where account = $1 and account_seq > $2))::text as posted from wallets where id = 'money:' || $1`,
    [payer.account, all.entries.filter(({ kind }) => kind === 'charge').length],
  )
  assert.equal(String(total(all.entries)), wallet?.['posted'])
})

test('the ledger is filtered by kind, service, time and id, and is CSV where that is asked for', async () => {
  const payer = await newPayer(ergon)
  await redeem(payer, await voucher())
  const used = await payer.call('GET', '/v1/models')
  const receipt = used.headers.get('x-receipt-id') ?? ''
  const list = async (query: string) => {
    const answer = await payer.call('GET', `/v1/ledger?${query}`)
    assert.equal(answer.status, 200, answer.text)
    return ledgerList.parse(answer.json)
  }
  const kindsOf = async (query: string) => [
    ...new Set((await list(query)).data.map(({ kind }) => kind)),
  ]
  assert.deepEqual(await kindsOf('kind=voucher'), ['voucher'])
  assert.deepEqual(await kindsOf('kind=charge'), ['charge'])
  assert.deepEqual(await kindsOf('service=inference'), ['charge'])
  assert.equal((await list('service=inference')).sums?.entries, 1)
  assert.deepEqual((await list('service=databases')).data, [])
  assert.deepEqual((await list('to=2020-01-01')).data, [])
  assert.equal((await list('kind=voucher&from=2020-01-01')).sums?.in_pusd, String(DOLLAR))
  for (const id of [receipt, receipt.replace('rcpt_', 'req_')])
    assert.deepEqual(
      (await list(`id=${id}`)).data.map((entry) => entry.id),
      [receipt],
    )
  const [came] = (await list('kind=voucher')).data
  for (const id of [came?.id, came?.reference])
    assert.deepEqual(
      (await list(`id=${id}`)).data.map((entry) => entry.id),
      [came?.id],
    )
  assert.deepEqual((await list('id=rcpt_00000000000000000000000000')).data, [])
  const other = await newPayer(ergon)
  assert.deepEqual((await other.call('GET', `/v1/ledger?id=${receipt}`)).json['data'], [])

  const csv = await payer.call('GET', '/v1/ledger?kind=voucher&limit=1', undefined, {
    accept: 'text/csv',
  })
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/)
  const [head, line] = csv.text.split('\r\n')
  assert.match(head ?? '', /^id,at,kind,amount_pusd,/)
  const charged = await payer.call('GET', `/v1/ledger?id=${receipt}`, undefined, {
    accept: 'text/csv',
  })
  const [columns = [], values = []] = charged.text.split('\r\n').map((one) => one.split(','))
  const [entry = {}] = (await list(`id=${receipt}`)).data
  const cells = Object.entries(entry).map(([name, value]) => [name, value ?? ''])
  assert.deepEqual(
    Object.fromEntries(columns.map((name, at) => [name, values[at]])),
    Object.fromEntries(cells),
  )
  assert.deepEqual(line?.split(',').slice(2, 4), ['voucher', String(DOLLAR)])
  for (const bad of [
    'kind=x',
    'service=x',
    'limit=0',
    'limit=1001',
    'cursor=x',
    'id=%27',
    'from=x',
    'from=2026-11-26&to=2026-11-25',
  ])
    assert.equal((await payer.call('GET', `/v1/ledger?${bad}`)).status, 400, bad)
})

test('a voucher is redeemed once under 50 parallel tries of five accounts', async () => {
  const payers = await Promise.all(Array.from({ length: 5 }, () => newPayer(ergon)))
  const code = await voucher()
  const answers = await Promise.all(
    Array.from({ length: PARALLEL }, (_, nth) => redeem(payers[nth % 5] as Payer, code)),
  )
  const won = answers.filter(({ status }) => status === 200)
  assert.equal(won.length, 1)
  for (const lost of answers.filter((one) => !won.includes(one)))
    assert.deepEqual([lost.status, codeOf(lost)], [409, 'voucher_used'])
  const [sum] = await ergon.sql<{ posted: string }>(
    "select sum(amount)::text as posted from transfers where reference = $1 and kind = 'voucher'",
    [won[0]?.json['id']],
  )
  assert.equal(sum?.posted, String(DOLLAR))
})

test('a wrong code, one for live money, one that has ended, and one with too small a scope change nothing', async () => {
  const payer = await newPayer(ergon)
  const live = await redeem(payer, await voucher({ env: 'live' }))
  assert.deepEqual([live.status, codeOf(live)], [404, 'voucher_not_found'])
  const none = await redeem(payer, '0000-0000-0000-0000-0000-0000')
  assert.deepEqual([none.status, codeOf(none)], [404, 'voucher_not_found'])
  const [ended] = await ergon.control('voucher.create', { pusd: '1', redeemable_days: 1 })
  await ergon.sql(
    "update vouchers set redeemable_until = now() - interval '1 second' where id = $1",
    [ended?.id],
  )
  const late = await redeem(payer, ended?.code ?? '')
  assert.deepEqual([late.status, codeOf(late)], [409, 'voucher_used'])
  const deployer = await newPayer(ergon, { scope: 'deploy' })
  const refused = await redeem(deployer, await voucher())
  assert.deepEqual([refused.status, codeOf(refused)], [403, 'scope_missing'])
  assert.equal((await balanceOf(payer)).balance_pusd, '0')
  const stored = await ergon.sql("select encode(code_hash, 'escape') as hash from vouchers")
  assert.ok(stored.every(({ hash }) => !hash?.includes((ended?.code ?? '').replaceAll('-', ''))))
})

test('an operation that waits for the audit log holds up no other account', async () => {
  const payer = await newPayer(ergon)
  const code = await voucher({})
  await ergon.control('funds.add', { account: payer.account, pusd: String(DOLLAR) })
  const audit = ergon.sql(
    'do $$ begin lock table audit_entries in share mode; perform pg_sleep(1.5); end $$',
  )
  await pause(300)
  const asked = [
    redeem(payer, code),
    payer.call('PATCH', '/v1/account', { low_water: '0.5' }),
    ergon.control('funds.add', { account: payer.account, pusd: '1' }),
  ]
  await pause(500)
  const waiting = await ergon.sql(
    "select from pg_locks where relation = 'audit_entries'::regclass and not granted",
  )
  assert.equal(waiting.length, asked.length)
  await ergon.sql('select from log_head for update nowait')
  await Promise.all([audit, ...asked])
})

test('points are spent before paid money, and go when they expire', async () => {
  const payer = await newPayer(ergon)
  await ergon.control('funds.add', { account: payer.account, pusd: String(DOLLAR) })
  await redeem(payer, await voucher({ priority: 10, lives_days: 1 }))
  await ergon.control('grant.create', {
    account: payer.account,
    pusd: String(DOLLAR / 2n),
    kind: 'promotion',
  })
  await payer.call('GET', '/v1/models')
  const audit = await payer.call('GET', '/v1/audit')
  assert.deepEqual(
    (audit.json['data'] as { action: string }[]).slice(0, 3).map(({ action }) => action),
    ['grant.create', 'voucher.redeem', 'funds.add'],
  )
  const kinds = async () => (await balanceOf(payer)).lots.map(({ kind }) => kind)
  assert.deepEqual(await kinds(), ['points', 'promotion', 'test'])
  const { lots } = await balanceOf(payer)
  assert.ok(BigInt(lots[0]?.remaining_pusd ?? 0) < DOLLAR)
  assert.deepEqual(
    [lots[1]?.remaining_pusd, lots[2]?.remaining_pusd],
    [String(DOLLAR / 2n), String(DOLLAR)],
  )
  await ergon.sql(
    "update lots set expires_at = now() where wallet = 'money:' || $1 and kind = 'points'",
    [payer.account],
  )
  await ergon.control('task.run', { name: 'ledger.books' })
  for (let left = 100; left > 0 && (await kinds()).includes('points'); left--)
    await new Promise((resolve) => setTimeout(resolve, 100))
  assert.deepEqual(await kinds(), ['promotion', 'test'])
  const { entries } = await walkLedger(payer, 'kind=expired')
  assert.ok(total(entries) < 0n)
})

test('the command line prints balance and ledger, and makes and redeems vouchers', async () => {
  const { token } = await ergon.control('token.create', { scope: 'billing-admin' })
  const cli = (...words: string[]) =>
    ergon.commands.run({
      words,
      env: {
        PATH: '',
        ERGON_DATA: ergon.dataFolder,
        ERGON_BASE_URL: ergon.baseUrl,
        ERGON_TOKEN: token,
      },
    })
  const made = await cli('admin', 'voucher', 'create', '2.50', '--lives', '30', '--note', 'gift')
  const code = made.stdout.trim()
  const redeemed = await cli('voucher', 'redeem', code)
  assert.match(redeemed.stderr, /2\.5 tUSD are in the balance, until /)
  assert.match((await cli('voucher', 'redeem', code)).stderr, /voucher_used|redeemed/)
  assert.match((await cli('admin', 'voucher', 'list')).stdout, /2\.5 .* gift/)
  await cli('admin', 'grant', ergon.account, '0.25', '--kind', 'promotion')
  assert.match((await cli('balance')).stdout, /^balance +\d.*tUSD \(test money\)/)
  assert.match((await cli('ledger', '--kind', 'grant')).stdout, /grant +0\.25/)
  const charges = await cli('ledger', '--kind', 'charge')
  assert.match(charges.stdout, /charge +-0\.\d+ +0\.\d+ +balance\.get/)
  assert.match(charges.stdout, /entries: in 0, out 0\.\d+ tUSD, \d+(\.\d+)? k?J$/m)
  const csv = await cli('ledger', '--csv', '--kind', 'voucher')
  assert.match(csv.stdout, /^id,at,kind.*\ntr_\d+,.*,voucher,2500000000000,/)
  const asJson = JSON.parse((await cli('ledger', '--json', '--limit', '1')).stdout) as object
  assert.ok('sums' in asJson)
})

test('the books add up after vouchers', async () => {
  assert.deepEqual(await bookFaults(ergon), [])
})
