// The operator's commands: metrics, tasks, alarms, kept journals, one request.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ControlAnswer } from '#contract/control.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream, COMPLETION_TOKENS, PROMPT_TOKENS } from '../upstreams.ts'
import { commandLine } from './command-line.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

/** The limit of a test that waits for a process of the product: beside other tests a start took 76 s. */
const BUSY = { timeout: 300_000 }
/** Beside 20 other runnable threads a run took a minute. */
const TASK_RUN_MS_MAX = 180_000
const TASK_LOOK_MS = 200

const { run, json } = commandLine()

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

const metrics = () => ergon.control('node.metrics')

test('the operator’s API prints the metrics of the gateways', async () => {
  const text = await metrics()
  assert.match(text, /^ergon_session_fresh 1$/m)
  assert.match(text, /^ergon_billed_joules [\d.]+$/m)
  assert.match(text, /^ergon_ledger_alarms 0$/m)
  assert.match(text, /^ergon_books_halted 0$/m)
  assert.match(text, /^ergon_nodejs_eventloop_lag_max_seconds \S+$/m)
  const lags = [
    ...`${text}\n${await metrics()}`.matchAll(/^ergon_nodejs_eventloop_lag\S+ (\S+)$/gm),
  ]
  assert.ok(lags.length > 0 && lags.every(([, seconds]) => !(Number(seconds) > 60)), String(lags))
  const overTcp = await fetch(`${ergon.baseUrl}/metrics`)
  assert.equal(overTcp.status, 404, 'not over TCP without ERGON_METRICS_TOKEN')
})

test('background tasks run, are listed and counted, and run on demand', BUSY, async () => {
  const isBooks = ({ name }: { readonly name: string }) => name === 'ledger.books'
  /** Has a limit of its own, and polls without commands: each of them took CPU that the task waited for. */
  const ranMoreThan = async (runs: number) => {
    const signal = AbortSignal.timeout(TASK_RUN_MS_MAX)
    for (;;) {
      const task = (await ergon.control('task.list')).find(isBooks)
      if (task !== undefined && task.runs > runs) return task
      await pause(TASK_LOOK_MS, undefined, { signal })
    }
  }
  // The process of tasks starts after the product answers.
  const { runs, dead } = await ranMoreThan(0)
  assert.deepEqual(dead, [])
  await json(['admin', 'tasks', 'run', 'ledger.books'])
  await ranMoreThan(runs)
  const listed = (await json(['admin', 'tasks'])) as { name: string; runs: number }[]
  assert.ok((listed.find(isBooks)?.runs ?? 0) > runs)
  assert.match(await metrics(), /^ergon_task_runs\{task="ledger.books"[^}]*\} [1-9]\d*$/m)
  const unknown = await run(['admin', 'tasks', 'run', 'nothing'])
  assert.match(unknown.stderr, /no task "nothing"/)
})

test('an alarm is seen in status, the list and the metrics until it is acknowledged', async () => {
  const seen = async () => {
    const { ledger } = (await json(['status'])) as { ledger: { alarms: string } }
    return [ledger.alarms, /^ergon_ledger_alarms (\d+)$/m.exec(await metrics())?.[1]]
  }
  const [row] = await ergon.sql(
    "insert into alarms (kind, detail) values ('from_a_test', '{}') returning id",
  )
  const id = row?.['id'] ?? ''
  try {
    assert.deepEqual(await seen(), ['1', '1'])
    assert.match(
      (await run(['status'])).stdout,
      /1 alarms, see ergon admin alarm list\n.*from_a_test/,
    )
    assert.match(
      (await run(['admin', 'alarm', 'list'])).stdout,
      new RegExp(`${id} .*from_a_test +no`),
    )
    const done = await run(['admin', 'alarm', 'acknowledge', id])
    assert.equal(done.code, 0, done.stderr)
    assert.deepEqual(await seen(), ['0', '0'])
    assert.deepEqual(await json(['admin', 'alarm', 'list']), [])
    const acts = await sharedErgon().sql(
      "select target from audit_entries where action = 'alarm.acknowledge' and target = $1",
      [id],
    )
    assert.deepEqual(acts, [{ target: id }])
    assert.match((await run(['admin', 'alarm', 'list', '--all'])).stdout, /from_a_test/)
    assert.equal((await run(['admin', 'alarm', 'acknowledge', 'x'])).code, 1)
  } finally {
    await ergon.sql('delete from alarms where id = $1', [id])
  }
})

test('a journal that cannot be posted is listed and set aside, of others none is', async () => {
  assert.deepEqual(await json(['admin', 'journal', 'list']), [])
  assert.match((await run(['admin', 'journal', 'list'])).stderr, /no journal is kept/)
  for (const word of ['post', 'drop']) {
    const { code, stderr } = await run(['admin', 'journal', word, 'gw-1'])
    assert.equal(code, 1)
    assert.match(stderr, /nothing is kept of "gw-1"/)
  }
  // A file of a node that had more gateways; reading it fails, for root too.
  const journal = join(ergon.dataFolder, 'journals', 'gw-9', '00000001.journal')
  mkdirSync(journal, { recursive: true })
  assert.match((await run(['admin', 'journal', 'list'])).stdout, /^gw-9 .* 1 +EISDIR/m)
  const refused = await run(['admin', 'journal', 'post', 'gw-9'])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /Could not post the journal of gw-9: EISDIR/)
  const { aside } = (await json(['admin', 'journal', 'drop', 'gw-9'])) as { aside: string }
  assert.ok(existsSync(join(aside, '00000001.journal')) && !existsSync(journal))
  assert.deepEqual(await json(['admin', 'journal', 'list']), [])
  const [alarm, ...others] = (await json(['admin', 'alarm', 'list', '--all'])) as {
    id: string
    kind: string
    acknowledged_at: string | null
  }[]
  assert.deepEqual([alarm?.kind, others.length], ['journal_dropped', 0])
  assert.ok(alarm?.acknowledged_at)
  await ergon.sql('delete from alarms where id = $1', [alarm.id])
})

test(
  'metrics count requests by operation, their durations, tokens, and receipts that wait',
  BUSY,
  async () => {
    const upstream = await addUpstream(ergon, 'counted')
    const figure = (text: string, name: string) => {
      const line = text.split('\n').find((one) => one.startsWith(`${name} `))
      return Number(line?.slice(name.length) ?? 0)
    }
    const names = {
      ok: 'ergon_requests_total{operation="chat.create",model="counted",status="2xx"}',
      refused: 'ergon_requests_total{operation="chat.create",status="4xx"}',
      durations: 'ergon_request_duration_seconds_bucket{operation="chat.create",le="+Inf"}',
      durationCount: 'ergon_request_duration_seconds_count{operation="chat.create"}',
      prompt: 'ergon_tokens_total{operation="chat.create",model="counted",kind="prompt"}',
      completion: 'ergon_tokens_total{operation="chat.create",model="counted",kind="completion"}',
    }
    const read = async () => {
      const text = await metrics()
      const all = Object.entries(names).map(
        ([name, series]) => [name, figure(text, series)] as const,
      )
      return Object.fromEntries(all) as Record<keyof typeof names, number>
    }
    // They are counted a moment after their callers have the last byte, so are those of the tests before.
    let before = await read()
    for (let last = 0; before.durationCount > last; before = await read()) {
      last = before.durationCount
      await pause(200)
    }
    for (const model of ['counted', 'counted', 'nobody']) {
      const answer = await fetch(`${ergon.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
      })
      await answer.text()
    }
    let after = await read()
    while (after.ok < before.ok + 2 || after.refused < before.refused + 1) after = await read()
    const more = Object.entries(after).map(([name, value]) => [
      name,
      value - before[name as keyof typeof names],
    ])
    const { durations, durationCount, ...counted } = Object.fromEntries(more) as typeof after
    assert.deepEqual(counted, {
      ok: 2,
      refused: 1,
      prompt: 2 * PROMPT_TOKENS,
      completion: 2 * COMPLETION_TOKENS,
    })
    // With those that the state did not answer in time.
    assert.ok(durations >= 3)
    assert.equal(durations, durationCount)
    const [waiting] = await ergon.sql<{ leaves: number }>(
      'select size::int as leaves from log_head',
    )
    assert.ok((waiting?.leaves ?? 0) > 0)
    while (!/^ergon_receipts_waiting 0$/m.test(await metrics())) await pause(50)
    while (!/^ergon_signers_ready 5$/m.test(await metrics())) await pause(50)
    const { stdout } = await run(['status'])
    assert.match(stdout, /^signers  5 of 5 have their share$/m)
    assert.match(stdout, /^receipts \d+ sealed of \d+$/m)
    const page = await fetch(`${ergon.baseUrl}/.well-known/ergon/receipt-keys.json`)
    const { signers } = (await page.json()) as { signers: object }
    assert.deepEqual(signers, { count: 5, threshold: 3, hosts: 1, ready: 5 })
    await ergon.control('model.remove', { model: 'counted' })
    await upstream.close()
  },
)

test('admin request says why a request was refused and what it was charged', BUSY, async () => {
  const headers = { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' }
  const refuse = async (path: string, init: RequestInit) => {
    const answer = await fetch(`${ergon.baseUrl}${path}`, init)
    return ((await answer.json()) as { instance: string }).instance
  }
  const wrong = await refuse('/v1/embeddings', { method: 'POST', headers, body: '{"model":7}' })
  const found = (await json(['admin', 'request', wrong])) as ControlAnswer<'request.find'>
  assert.deepEqual(
    [found.request, found.refusal?.status, found.refusal?.code, found.refusal?.param],
    [wrong, 400, 'invalid_request', 'model'],
  )
  // The charge is posted with the next tick.
  await receiptOf(wrong)
  const { stdout } = await run(['admin', 'request', wrong])
  assert.match(stdout, /^refused {2}400 invalid_request by gw-1 at /m)
  assert.match(
    stdout,
    new RegExp(`^charged {2}[0-9.]+ J, [0-9.]+ tUSD to ${ergon.account}, answered 400$`, 'm'),
  )
  const stray = await refuse('/v1/nowhere', {})
  const unattributed = await run(['admin', 'request', stray])
  assert.match(
    unattributed.stdout,
    /^refused {2}404 not_found by gw-1[^]*^charged {2}to no account$/m,
  )
  const unknown = await run(['admin', 'request', `req_${'0'.repeat(26)}`])
  assert.deepEqual([unknown.code, /Could not find the request/.test(unknown.stderr)], [1, true])
})

/** Resolves when the charge of a request is in the ledger. */
async function receiptOf(request: string): Promise<void> {
  while ((await ergon.control('request.find', { id: request })).charge === null) await pause(50)
}

test('an account is created, gets test money, and is listed with it', async () => {
  const made = await run(['admin', 'account', 'create'])
  const account = made.stdout.trim()
  const added = await run(['admin', 'funds', 'add', account, '0.25'])
  assert.match(added.stderr, /^added 0\.25 tUSD to acct_/)
  assert.equal((await run(['admin', 'funds', 'add', account, '1e9'])).code, 2)
  const list = await run(['admin', 'account', 'list'])
  assert.match(list.stdout, new RegExp(`^${account} +tUSD \\(test\\) +0\\.25 +balance`, 'm'))
})

test('receipts are listed, and each has the id of a charge', async () => {
  await fetch(`${ergon.baseUrl}/v1/models`, {
    headers: { authorization: `Bearer ${ergon.token}` },
  })
  const { stdout } = await run(['receipt', 'list'])
  assert.match(stdout, /rcpt_[0-9a-z]{26}/)
})

const WRONG: readonly [words: readonly string[], code: number, why: RegExp][] = [
  [['admin', 'tasks', 'retry', '0'], 1, /no dead task "0"/],
  [['artifacts', 'fetch', 'none'], 1, /none.*artifact_unknown/],
  [['artifacts', 'prune'], 0, /^removed: /m],
  [['meter', 'calibrate'], 1, /Could not calibrate/],
  [['models', 'pull', 'https://models.example/m.gguf'], 2, /--sha256 is needed/],
]
for (const [words, code, why] of WRONG)
  test(`${words.join(' ')} ends with ${code} and says why`, async () => {
    const ended = await run(words)
    assert.equal(ended.code, code, ended.stderr)
    assert.match(ended.stderr, why)
  })
