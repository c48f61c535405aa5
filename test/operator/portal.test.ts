// The operator's view of the node on the portal: what it shows, what it changes, and who is refused.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  alarmAcknowledged,
  operatorAccountList,
  operatorAlarmList,
  operatorBooks,
  operatorIncident,
  operatorIncidentList,
  operatorLog,
  operatorNode,
  type OperatorBooks,
} from '#contract/operator/operator.ts'
import { OPERATOR } from '#contract/operator/operations.ts'
import { product, sharedErgon } from '../product.ts'
import { endTouch, newClient, signUpSoftly, type PortalClient } from '../portal/client.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

/** Beyond the time for which sums of the ledger are kept. */
const KEPT_MS_MAX = 60_000

const codeOf = ({ status, body }: Awaited<ReturnType<PortalClient['ask']>>) => [
  status,
  body.error?.code,
]

/** A signed-in member of an account. */
async function memberOf(account: string, role?: 'admin' | 'developer' | 'viewer') {
  const client = newClient(sharedErgon())
  const invitation =
    role === undefined
      ? ((await sharedErgon().control('member.recover', { target: account })).url.split('#')[1] ??
        '')
      : (await sharedErgon().control('member.invite', { account, name: role, role }))
          .invitation_code
  await signUpSoftly(client, { invitation })
  return client
}

const BODIES: Readonly<Record<string, object>> = {
  'operator-incident.open': { region: 'moon', summary: 'x' },
  'operator-account.suspend': { reason: 'x' },
}
/** The honest call of each route. */
const CALLS = OPERATOR.routes.map(({ method, path, operation }) => ({
  method,
  operation,
  path: path.replaceAll(/:\w+/g, '1'),
  body: BODIES[operation] ?? { words: 'x' },
}))
const callAll = async (client: PortalClient, sent = {}) => {
  const codes = new Set<string>()
  for (const { method, path, body } of CALLS)
    codes.add(
      codeOf(await client.ask(method, path, method === 'GET' ? undefined : body, sent)).join(' '),
    )
  return [...codes]
}

describe('the operator at the portal', () => {
  let owner: PortalClient
  before(async () => (owner = await memberOf(sharedErgon().account)))

  test('operator-node.get shows the meter and every cell, as the node has them now', async () => {
    const { facts } = operatorNode.parse(await owner.must(200, 'GET', '/v1/operator/node'))
    assert.ok(facts !== null, 'the agent answers')
    assert.ok(Date.now() - Date.parse(facts.at) < 5000, facts.at)
    const status = await sharedErgon().control('node.status', {})
    const names = (cells: readonly { name: string }[]) => cells.map(({ name }) => name).toSorted()
    assert.deepEqual(names(facts.cells), names(status.cells))
    const gateway = facts.cells.find(({ name }) => name === 'gw-1')
    assert.ok((gateway?.memory_bytes ?? 0) > 10_000_000, JSON.stringify(gateway))
    assert.ok(Number(facts.meter.watts) > 0 && facts.meter.reason !== '', 'the meter says why')
    const total = facts.cells.reduce((sum, { watts }) => sum + Number(watts), 0)
    assert.ok(total <= Number(facts.meter.watts) + 0.1, `${total} of ${facts.meter.watts} W`)
    assert.ok((facts.disks[0]?.free_bytes ?? 0) > 0)
  })

  test('operator-books.get and operator-account.list show figures and no contents', async () => {
    const ergon = sharedErgon()
    const chargedNj = async () => {
      const [row] = await ergon.sql<{ nj: string }>(
        `select coalesce(sum(nj), 0)::text as nj from (select account, energy_nj as nj from charges
           union all select account, energy_nj from charge_bundles) c where account <> 'nobody'`,
      )
      return BigInt(row?.nj ?? '')
    }
    const earlierNj = await chargedNj()
    const readBooks = async () =>
      operatorBooks.parse(await owner.must(200, 'GET', '/v1/operator/books'))
    const shownNj = ({ charged }: OperatorBooks) => BigInt(charged?.all.energy_nj ?? -1)
    // The sums are kept for some seconds, so another test may have asked for these before.
    let books = await readBooks()
    for (const lastMs = Date.now() + KEPT_MS_MAX; shownNj(books) < earlierNj;) {
      assert.ok(Date.now() < lastMs, `${shownNj(books)} nJ of ${earlierNj}`)
      await pause(500)
      books = await readBooks()
    }
    assert.ok(shownNj(books) <= (await chargedNj()))
    assert.deepEqual([books.halted_at, books.faults, books.signers.total], [null, [], 5])
    const { id: account } = await ergon.control('account.create', { env: 'test' })
    await ergon.control('funds.add', { account, pusd: '7000000000000' })
    const first = await owner.must(200, 'GET', '/v1/operator/accounts?limit=1')
    const { data, next_cursor: next } = operatorAccountList.parse(first)
    assert.deepEqual(
      data.map((one) => [one.id, one.balance_pusd, one.status, one.day.requests]),
      [[account, '7000000000000', 'active', 0]],
    )
    const rest = operatorAccountList.parse(
      await owner.must(200, 'GET', `/v1/operator/accounts?cursor=${next}`),
    )
    assert.equal(rest.data.at(-1)?.id, ergon.account)
    for (const list of ['accounts', 'alarms'])
      for (const query of ['limit=0', 'limit=1001', 'limit=x', "cursor=1'", 'cursor=', 'after=1'])
        assert.deepEqual(
          codeOf(await owner.ask('GET', `/v1/operator/${list}?${query}`)),
          [400, 'invalid_request'],
          `${list} ${query}`,
        )
  })

  test('operator-log.get has the last lines of the agent and its programs, by level and subsystem', async () => {
    const log = async (query: string) =>
      operatorLog.parse(await owner.must(200, 'GET', `/v1/operator/log${query}`))
    const { lines, subsystems } = await log('?level=info')
    // The first line of the agent: a start goes on while the portal answers.
    assert.ok(
      lines?.some(({ message }) => message.startsWith('isolation ')),
      JSON.stringify(lines),
    )
    assert.ok(subsystems.includes('agent'))
    assert.deepEqual((await log('?subsystem=none')).lines, [])
    assert.equal((await log('?limit=1')).lines?.length, 1)
    for (const query of ['level=loud', 'limit=0', 'limit=501', 'tail=1'])
      assert.deepEqual(
        codeOf(await owner.ask('GET', `/v1/operator/log?${query}`)),
        [400, 'invalid_request'],
        query,
      )
  })

  test('operator-account.suspend and operator-account.resume change an account, and both audit logs have it', async () => {
    const { id } = await sharedErgon().control('account.create', {})
    const path = `/v1/operator/accounts/${id}`
    const code = async (...asked: Parameters<typeof owner.ask>) => codeOf(await owner.ask(...asked))
    assert.deepEqual(await code('POST', `${path}/resume`), [409, 'account_not_suspended'])
    assert.deepEqual(await code('POST', `${path}/suspend`, {}), [400, 'invalid_request'])
    const own = `/v1/operator/accounts/${sharedErgon().account}/suspend`
    assert.deepEqual(await code('POST', own, { reason: 'x' }), [409, 'operator_account'])
    await owner.must(200, 'POST', `${path}/suspend`, { reason: 'Abuse' })
    const listed = async () =>
      operatorAccountList
        .parse(await owner.must(200, 'GET', '/v1/operator/accounts?limit=1000'))
        .data.find((one) => one.id === id)
    assert.deepEqual(
      [(await listed())?.status, (await listed())?.suspended_for],
      ['suspended', 'Abuse'],
    )
    await owner.must(200, 'POST', `${path}/resume`)
    assert.equal((await listed())?.status, 'active')
    const acts = await sharedErgon().sql<{ action: string }>(
      'select action from audit_entries where target = $1 order by action',
      [id],
    )
    assert.deepEqual(
      acts.map(({ action }) => action),
      ['account.resume', 'account.suspend', 'operator-account.resume', 'operator-account.suspend'],
    )
  })

  test('operator-alarm.acknowledge takes an alarm off the list and is in the audit log', async () => {
    const raised = await sharedErgon().sql(
      `insert into alarms (kind, detail) values ('journal_gap', '{"lost": "<b>1</b>"}') returning id::text`,
    )
    const id = String(raised[0]?.['id'])
    const list = async (query = '') =>
      operatorAlarmList
        .parse(await owner.must(200, 'GET', `/v1/operator/alarms${query}`))
        .data.find((alarm) => alarm.id === id)
    assert.deepEqual(
      [(await list())?.finding, (await list())?.command],
      ['a journal lost records, by number', 'ergon admin journal list'],
    )
    const path = `/v1/operator/alarms/${id}/acknowledge`
    const made = alarmAcknowledged.parse(await owner.must(200, 'POST', path))
    assert.equal(made.kind, 'journal_gap')
    assert.equal(await list(), undefined)
    assert.notEqual((await list('?acknowledged=true'))?.acknowledged_at ?? null, null)
    assert.deepEqual(codeOf(await owner.ask('POST', '/v1/operator/alarms/x/acknowledge')), [
      404,
      'alarm_not_found',
    ])
    const acts = await sharedErgon().sql(
      `select target from audit_entries where action = 'operator-alarm.acknowledge'`,
    )
    assert.deepEqual(acts, [{ target: id }])
    // The product is shared: other files demand that nothing alarmed the operator.
    await sharedErgon().sql('delete from alarms where id = $1', [id])
  })

  test('an incident is previewed, opened, told of and closed; a preview changes nothing', async () => {
    const region = operatorNode.parse(await owner.must(200, 'GET', '/v1/operator/node')).facts
      ?.region
    const list = async () =>
      operatorIncidentList.parse(await owner.must(200, 'GET', '/v1/operator/incidents')).data
    const open = { region, summary: 'No power' }
    const before = await list()
    await owner.must(200, 'POST', '/v1/operator/incidents', { ...open, preview: true })
    assert.deepEqual(await list(), before)
    const { id } = operatorIncident.parse(
      await owner.must(200, 'POST', '/v1/operator/incidents', open),
    )
    assert.deepEqual(codeOf(await owner.ask('POST', '/v1/operator/incidents', open)), [
      409,
      'incident_open',
    ])
    const path = `/v1/operator/incidents/${id}`
    await owner.must(200, 'POST', `${path}/updates`, { words: 'We look', lost: 'nothing' })
    const closed = operatorIncident.parse(
      await owner.must(200, 'POST', `${path}/close`, { words: 'Mended' }),
    )
    assert.deepEqual(
      [closed.updates.map(({ words }) => words), closed.lost, closed.ended_at === null],
      [['Mended', 'We look'], 'nothing', false],
    )
    assert.deepEqual(codeOf(await owner.ask('POST', `${path}/close`, {})), [
      404,
      'incident_not_found',
    ])
    assert.deepEqual(
      await sharedErgon().sql('select action from audit_entries where target = $1 order by id', [
        id,
      ]),
      ['open', 'update', 'close'].map((verb) => ({ action: `operator-incident.${verb}` })),
    )
  })

  test('an owner of another account is refused everywhere, and nothing is changed', async () => {
    const stranger = newClient(sharedErgon())
    await signUpSoftly(stranger, { name: 'stranger' })
    const before = await sharedErgon().sql('select count(*) as n from incidents')
    assert.deepEqual(await callAll(stranger), ['403 operator_only'])
    assert.deepEqual(await sharedErgon().sql('select count(*) as n from incidents'), before)
  })

  test('a viewer and a developer of the operator are refused; an admin is not', async () => {
    const { account } = sharedErgon()
    for (const role of ['viewer', 'developer'] as const)
      assert.deepEqual(await callAll(await memberOf(account, role)), ['403 scope_missing'])
    await (await memberOf(account, 'admin')).must(200, 'GET', '/v1/operator/books')
  })

  test("the operator's token is refused, here and at the API", async () => {
    const { port, token } = sharedErgon()
    const headers = { authorization: `Bearer ${token}` }
    assert.deepEqual(await callAll(owner, { headers, cookie: '' }), ['400 malformed_request'])
    const api = { headers, cookie: '', port, host: `localhost:${port}` }
    assert.deepEqual(await callAll(owner, api), ['421 portal_only'])
    assert.deepEqual(await callAll(owner, { cookie: '' }), ['401 session_missing'])
  })

  test('a change needs a touch of the last minutes, and a page of ours', async () => {
    const admin = await memberOf(sharedErgon().account, 'admin')
    const { member } = (await admin.must(200, 'GET', '/v1/session')) as { member?: { id: string } }
    await endTouch(sharedErgon(), member?.id)
    const acts = CALLS.filter(({ method }) => method !== 'GET')
    assert.equal(acts.length, 6)
    for (const { method, path, body } of acts) {
      const foreign = await owner.ask(method, path, body, { origin: 'https://evil.example' })
      assert.deepEqual(codeOf(foreign), [403, 'origin_refused'])
      assert.deepEqual(codeOf(await admin.ask(method, path, body)), [403, 'touch_required'], path)
    }
  })
})
