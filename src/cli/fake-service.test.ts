// Commands as they are typed, at a service that answers as the test says.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { AT, AWAY, backup, fakeService, outcomeOf, page, PROGRAM } from './fake-service.fixture.ts'

const EXPORT = '{"record":"account"}\n{"record":"end","records":1}\n'
const member = { name: 'A', role: 'owner', contact: null, joined_at: null, current: false }
/** Its work never ends. */
const slow = { name: 'slow', status: 'deploying', reason: null, version: 1, live_version: null }
const LOG = JSON.stringify({ object: 'list', data: [], cursor: '0' })
const logOf = (text: string) =>
  JSON.stringify({ data: [{ at: AT, level: 'info', request_id: null, text }], cursor: '1' })
const POLLS = {
  '/v1/functions/busy/logs': [logOf('one'), AWAY, logOf('two'), LOG],
}

const run = {
  id: '7',
  event: 'schedule',
  data: { scheduled_at: AT },
  attempts: 1,
  error: 'it threw',
}
const attempt = { request_id: 'req_1', created_at: AT, attempted_at: AT, next_at: AT }
const FAILURES = JSON.stringify({ object: 'list', data: [], waiting: [{ ...run, ...attempt }] })

const ANSWERS = {
  '/v1/functions/quiet/logs': LOG,
  '/v1/functions': page(),
  'PATCH /v1/functions/slow': '{}',
  '/v1/functions/slow': JSON.stringify({ ...slow, versions: [] }),
  'POST /v1/databases': '{"name":"slow"}',
  'POST /v1/databases/slow/backups': '{"id":"bkp_2"}',
  '/v1/databases/slow/backups/bkp_2': JSON.stringify({ ...backup, done_bytes: 0 }),
  '/v1/databases/slow': JSON.stringify(slow),
  '/v1/workloads/quiet/logs': LOG,
  '/v1/deployments': page(),
  'POST /v1/deployments': JSON.stringify({ stack: 'typo', changes: 0, plan: 'p', steps: [] }),
  'PATCH /v1/workloads/api': '{}',
  '/v1/functions/retried/failures': FAILURES,
  'POST /v1/workloads/api/scale': '{"scale":{"min":1,"max":5,"target_requests":20}}',
  '/v1/workloads': page(),
  '/v1/account/export': EXPORT,
  '/v1/members': page(
    { id: 'mem_1', ...member, state: 'active', invitation_expires_at: AT },
    { id: 'mem_2', ...member, state: 'invited', invitation_expires_at: AT },
  ),
  '/v1/audit': page({
    at: AT,
    action: 'topup.create',
    actor: { type: 'system', id: null, name: null, member: null },
    target: 'pay_1',
    details: { kind: 'automatic' },
  }),
  '/v1/payment-methods': '{"id":"pm_1","status":"active"}',
  '/v1/topups': '{"id":"tu_1"}',
  '/v1/topups/tu_1': '{"status":"captured"}',
  '/v1/ledger?limit=1000':
    '{"data":[{"amount_pusd":"5"},{"amount_pusd":"-2"}],"next_cursor":"c_2"}',
  '/v1/ledger?limit=1000&cursor=c_2': '{"data":[{"amount_pusd":"-1"}],"next_cursor":null}',
  '/v1/compliance/packs': JSON.stringify({ id: 'pack_1', state: 'waits', ceiling_pusd: '1900000' }),
}

const event = (sequence: number, type: string) => ({
  event: type,
  event_id: `evt_${sequence}`,
  occurred_at: AT,
  data: { account_id: 'acct_1', sequence },
})
/** Nothing was there before the call. */
const EVENTS = [page(), page(event(1, 'receipt.published'), event(2, 'balance.low')), page()]

const LISTEN = ['webhook', 'listen', '--forward-to']
const TOP_UP = join(import.meta.dirname, '../../examples/top-up.sh')

suite('commands at a service', () => {
  const service = fakeService({ answers: ANSWERS, polls: POLLS })
  const { folder, bodies, start, run, ergon } = service

  test('account export - writes to the standard output', async () => {
    const { code, out, told } = await ergon('account', 'export', '-')
    assert.deepEqual([code, out], [0, EXPORT], told)
    assert.ok(!existsSync(join(folder, '-')))
  })

  test('the log of what has never run, and an empty list, say so to people', async () => {
    for (const words of [['fn', 'logs'], ['logs']]) {
      const { code, out, told } = await ergon(...words, 'quiet')
      assert.deepEqual([code, out, told], [0, '', 'quiet has written nothing yet\n'])
      assert.deepEqual((await ergon(...words, 'quiet', '--json')).told, '')
    }
    for (const [noun, next] of [
      ['deployments', 'There are no deployments yet: ergon deploy'],
      ['workloads', 'There are no workloads yet: ergon deploy'],
    ] as const) {
      const { code, out, told } = await ergon(noun, 'list')
      assert.deepEqual([code, out], [0, ''])
      assert.ok(told.startsWith(next), told)
    }
  })

  test('a command that ^C ends says that the service goes on, and how to look', async () => {
    for (const [words, path, next] of [
      ['fn resume slow', '/v1/functions/slow', 'ergon fn show slow'],
      ['db create slow', '/v1/databases/slow', 'ergon db show slow'],
      ['db backup create slow', '/v1/databases/slow/backups/bkp_2', 'ergon db backup list slow'],
      ['db restore x --as slow', '/v1/databases/slow', 'ergon db show slow'],
    ] as const) {
      bodies.delete(`GET ${path}`)
      const child = start(process.execPath, PROGRAM, ...words.split(' '))
      const outcome = outcomeOf(child)
      // The command waits from its first poll on.
      while (!bodies.has(`GET ${path}`) && child.exitCode === null) await pause(20)
      child.kill('SIGINT')
      const { code, told } = await outcome
      assert.deepEqual([code, told.includes(`goes on: ${next}\n`)], [130, true], told)
    }
  })

  test('destroy of a stack that was never deployed is an error, and deploys nothing', async () => {
    const { code, told } = await ergon('destroy', '--stack', 'typo', '--yes')
    assert.equal(code, 1)
    assert.match(told, /^error: There is no stack typo\n  try: ergon deployments list/m)
    assert.equal(JSON.parse(bodies.get('POST /v1/deployments') ?? '{}').dry_run, true)
  })

  test('budget sets the energy budget of a workload, and none removes it', async () => {
    for (const [energy, sent] of [
      ['10 kJ/day', '10 kJ/day'],
      ['none', null],
    ] as const) {
      const { code, told } = await ergon('budget', 'api', energy)
      assert.equal(code, 0, told)
      const body = bodies.get('PATCH /v1/workloads/api') ?? ''
      assert.deepEqual(JSON.parse(body), { energy_budget: sent })
    }
  })

  test('fn failures shows a run that failed and is tried again, with its last fault', async () => {
    const { out } = await ergon('fn', 'failures', 'retried')
    assert.equal(out, `7 ${AT} schedule ${AT}: it threw (req_1), again at ${AT}\n`)
  })

  test('fn deploy takes its file behind variables and triggers, too', async () => {
    writeFileSync(join(folder, 'typed.mjs'), 'export default () => new Response()\n')
    const words =
      '--env A=1 --env B=2 --host a.test --host b.test --on bucket/b/object-created typed.mjs'
    const { told } = await ergon('fn', 'deploy', ...words.split(' '))
    const { name, env, on, routes } = JSON.parse(bodies.get('POST /v1/functions') ?? '{}') as {
      readonly [member: string]: unknown
    }
    const wanted = ['typed', { A: '1', B: '2' }, ['bucket/b/object-created'], ['a.test', 'b.test']]
    assert.deepEqual([name, env, on, routes], wanted, told)
  })

  test('scale sends each of its options', async () => {
    const numbers = ['--min', '1', '--max', '5', '--target-requests', '20']
    const { code, told } = await ergon('scale', 'api', ...numbers)
    assert.equal(code, 0, told)
    const asked = JSON.parse(bodies.get('POST /v1/workloads/api/scale') ?? '') as unknown
    assert.deepEqual(asked, { min: 1, max: 5, target_requests: 20 })
    const wrong = await ergon('scale', 'api', '--target-requests', 'many')
    assert.deepEqual([wrong.code, /--target-requests: many/.test(wrong.told)], [2, true])
  })

  test('fn logs -f goes on when the service is back', async () => {
    const child = start(process.execPath, PROGRAM, 'fn', 'logs', 'busy', '-f')
    let out = ''
    for await (const part of child.stdout) {
      out += String(part)
      if (out.includes('two')) break
    }
    child.kill()
    assert.match(out, /info {2}- one\n.*info {2}- two\n/)
  })

  test('ledger does not print CSV where JSON is asked for', async () => {
    const { code, out, told } = await ergon('ledger', '--csv', '--json')
    assert.deepEqual([code, out], [2, ''])
    assert.match(told, /Give --csv or --json/)
  })

  test('members list tells the end of a recovery link from that of an invitation', async () => {
    const { out } = await ergon('members', 'list')
    assert.match(out, /mem_1 .*active, recovery link until 2026-11-27/)
    assert.match(out, /mem_2 .*invited until 2026-11-27/)
  })

  test('audit does not call an automatic top-up an act of the operator', async () => {
    const { out } = await ergon('audit')
    assert.match(out, /automatic +topup\.create/)
  })

  test('evidence create says the unit of what it costs', async () => {
    const { told } = await ergon('evidence', 'create', '--from', '2026-01-01', '--to', '2026-02-01')
    assert.match(told, /It costs 0\.0000019 dollars at most/)
  })

  test('webhook listen forwards receipt.published where it is asked for by name', async () => {
    const port = service.portOf()
    const first = async (...more: string[]) => {
      service.willAnswer('/v1/events', EVENTS)
      const child = start(process.execPath, PROGRAM, ...LISTEN, `localhost:${port}`, ...more)
      const [line] = (await once(child.stdout, 'data')) as [Buffer]
      child.kill()
      await once(child, 'exit')
      return String(line)
    }
    assert.match(await first(), / balance\.low /)
    assert.match(await first('--events', 'receipt.published'), / receipt\.published /)
  })

  test('examples/top-up.sh adds up every page of the ledger', async () => {
    const { out, told } = await run('sh', TOP_UP)
    assert.match(out, /sum of the ledger: 2 pUSD/, told)
  })
})
