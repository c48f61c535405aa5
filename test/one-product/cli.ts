// The command line as a person uses it: the real program against a real service.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { originOf } from '#tlog/checkpoint.ts'
import { receiptKeysJson } from '#tlog/keys.ts'
import { forgedReceipt } from '../forged-receipt.ts'
import { sharedErgon } from '../parts.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream, COMPLETION_TOKENS, PROMPT_TOKENS } from '../upstreams.ts'

const PROGRAM = join(import.meta.dirname, '../../src/cli/ergon.mjs')
const folder = mkdtempSync(join(tmpdir(), 'ergon-cli-'))

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
})
after(async () => {
  rmSync(folder, { recursive: true, force: true })
})

type Run = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs `ergon …`; `env` replaces the token and the config folder. */
function run(
  words: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, '--data', ergon.dataFolder, ...words],
      {
        env: {
          PATH: process.env['PATH'] ?? '',
          ERGON_TOKEN: ergon.token,
          XDG_CONFIG_HOME: folder,
          ...options.env,
        },
        timeout: 60_000,
      },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    )
    child.stdin?.end(options.input ?? '')
  })
}

const json = async (words: readonly string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await run([...words, '--json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

test('status, meter, accounts, tokens, artifacts and models print JSON and tables', async () => {
  const status = (await json(['status'])) as {
    cells: { name: string; state: string }[]
    state_holder: { host: string; folder: string; since: string; backend: number }
    books: { halted_at: string | null }
  }
  const { host, folder: data, backend } = status.state_holder
  assert.deepEqual([host, data, backend > 0], [hostname(), ergon.dataFolder, true])
  assert.match(
    (await run(['status'])).stdout,
    new RegExp(`^state +of the node on ${host} in `, 'm'),
  )
  assert.equal(status.books.halted_at, null)
  assert.ok(status.cells.some((cell) => cell.name === 'gw-1' && cell.state === 'ready'))
  const accounts = (await json(['admin', 'account', 'list'])) as {
    id: string
    balance_pusd: string
  }[]
  assert.equal(accounts[0]?.id, ergon.account)
  const artifacts = (await json(['artifacts', 'list'])) as { name: string }[]
  assert.ok(artifacts.some((one) => one.name === 'pgvector-16'))
  assert.deepEqual(await json(['models', 'list']), [])
  for (const words of [
    ['status'],
    ['meter'],
    ['admin', 'account', 'list'],
    ['admin', 'token', 'list'],
    ['models', 'list'],
    ['usage'],
    ['energy'],
  ]) {
    const { code, stdout, stderr } = await run(words)
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
    assert.ok(stdout.length > 0)
    assert.ok(!stdout.includes('\u001b['), 'no colours where no terminal is')
  }
})

test('usage says how much of the energy a sensor read', async () => {
  await run(['usage'])
  const { data } = (await json(['usage'])) as { data: { energy_nj: string; measured_nj: string }[] }
  assert.ok(data.length > 0 && data.every(({ energy_nj: energy }) => BigInt(energy) > 0n))
  assert.ok(data.every((row) => BigInt(row.measured_nj) <= BigInt(row.energy_nj)))
  assert.match((await run(['usage'])).stdout, /MEASURED.*\n.* \d+ % /)
})

test('a token is minted, shown once alone on stdout, used, and revoked', async () => {
  const made = await run(['admin', 'token', 'create', '--scope', 'read', '--name', 'from a test'])
  const token = made.stdout.trim()
  assert.match(token, /^svc_[0-9A-Za-z]{38}$/)
  const list = (await json(['admin', 'token', 'list'])) as {
    id: string
    name: string
    hint: string
  }[]
  const listed = list.find((one) => one.name === 'from a test')
  assert.ok(
    listed !== undefined && token.startsWith(listed.hint) && !JSON.stringify(list).includes(token),
  )
  const used = await run(['usage'], { env: { ERGON_TOKEN: token } })
  assert.equal(used.code, 0, used.stderr)
  // Its charge is posted with the next tick.
  for (let lastUsed: unknown = null; lastUsed === null;) {
    const tokens = (await json(['admin', 'token', 'list'])) as Record<string, unknown>[]
    lastUsed = tokens.find((one) => one['name'] === 'from a test')?.['last_used_at']
    assert.notEqual(lastUsed, undefined)
  }
  const revoked = await run(['admin', 'token', 'revoke', listed.id])
  assert.equal(revoked.code, 0, revoked.stderr)
  const refused = await run(['usage'], { env: { ERGON_TOKEN: token } })
  assert.equal(refused.code, 4, 'exit code 4: login needed')
  assert.match(refused.stderr, /revoked/)
})

test('login reads the token from stdin, checks it, and keeps it 0600', async () => {
  const wrong = await run(['login'], { input: `svc_${'x'.repeat(38)}\n`, env: { ERGON_TOKEN: '' } })
  assert.equal(wrong.code, 4, wrong.stderr)
  const done = await run(['login'], { input: `${ergon.token}\n`, env: { ERGON_TOKEN: '' } })
  assert.equal(done.code, 0, done.stderr)
  assert.ok(!done.stdout.includes(ergon.token) && !done.stderr.includes(ergon.token))
  const used = await run(['usage'], { env: { ERGON_TOKEN: '' } })
  assert.equal(used.code, 0, used.stderr)
  const elsewhere = ['--base-url', `http://127.0.0.1:${ergon.port}`, 'usage']
  const kept = await run(elsewhere, { env: { ERGON_TOKEN: '' } })
  assert.equal(kept.code, 4, 'the token goes to no other address')
})

test('a receipt verifies by id and offline from a file; openssl agrees; a changed digit does not', async () => {
  const answer = await fetch(`${ergon.baseUrl}/v1/models`, {
    headers: { authorization: `Bearer ${ergon.token}` },
  })
  const id = answer.headers.get('x-receipt-id') ?? ''
  const file = join(folder, 'receipt.tlog-proof')
  const online = await run(['receipt', 'verify', id, '--out', file])
  assert.equal(online.code, 0, online.stdout + online.stderr)
  assert.match(online.stdout, /signed by/)
  const printed = /energy\s+([\d.]+) J/.exec(online.stdout)?.[1]
  assert.equal(
    printed,
    answer.headers.get('x-energy-joules'),
    'the receipt says what the header said',
  )
  // Offline: no service at that address, only the keys that were pinned.
  const offline = await run(['receipt', 'verify', file], {
    env: { ERGON_BASE_URL: 'http://127.0.0.1:9' },
  })
  assert.equal(offline.code, 0, offline.stdout + offline.stderr)
  const forged = join(folder, 'forged.tlog-proof')
  writeFileSync(forged, forgedReceipt(readFileSync(file, 'utf8')))
  const refused = await run(['receipt', 'verify', forged])
  assert.equal(refused.code, 6, 'exit code 6: the receipt does not hold')
  assert.match(refused.stdout, /FAIL/)
})

const receiptId = async () => {
  const headers = { authorization: `Bearer ${ergon.token}` }
  const answer = await fetch(`${ergon.baseUrl}/v1/models`, { headers })
  return answer.headers.get('x-receipt-id') ?? ''
}

test('two tree heads of one log go together by a consistency proof, or the receipt does not hold', async () => {
  const config = join(folder, 'heads')
  const env = { XDG_CONFIG_HOME: config }
  const files = ['small', 'large'].map((name) => join(folder, `${name}.tlog-proof`))
  const [small = '', large = ''] = files
  for (const file of files) {
    const id = await receiptId()
    const made = await run(['receipt', 'verify', id, '--out', file], { env })
    assert.equal(made.code, 0, made.stdout + made.stderr)
    assert.equal(/ok +history/.test(made.stdout), file === large, made.stdout)
  }
  const pins = join(config, 'ergon/receipt-keys.json')
  const kept = JSON.parse(readFileSync(pins, 'utf8')) as { heads: { size: number; root: string }[] }
  const sizeIn = (file: string) =>
    Number(/^ergon-.*\n(\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '')
  assert.equal(kept.heads[0]?.size, sizeIn(large))
  // The other way round: the one that was seen is larger than that of the receipt.
  const reverse = await run(['receipt', 'verify', small], { env })
  assert.equal(reverse.code, 0, reverse.stdout + reverse.stderr)
  assert.match(reverse.stdout, /ok +history/)
  const away = { env: { ...env, ERGON_BASE_URL: 'http://127.0.0.1:9' } }
  const alone = await run(['receipt', 'verify', small], away)
  assert.equal(alone.code, 0, alone.stdout + alone.stderr)
  assert.match(alone.stderr, /not compared: .*does not answer here/)
  // Who saw another head than those of this log.
  const root = Buffer.alloc(32).toString('base64')
  const sees = (size: number) =>
    writeFileSync(pins, JSON.stringify({ ...kept, heads: [{ ...kept.heads[0], size, root }] }))
  for (const [size, file] of [
    [sizeIn(small), large],
    [sizeIn(large), small],
    [sizeIn(large), large],
  ] as const) {
    sees(size)
    const refused = await run(['receipt', 'verify', file, '--json'], { env })
    assert.equal(refused.code, 6, refused.stdout + refused.stderr)
    assert.match(refused.stderr, /two histories/)
    assert.equal((JSON.parse(refused.stdout) as { ok: boolean }).ok, false)
    assert.equal(readFileSync(pins, 'utf8').includes(root), true, 'what was seen stays')
  }
  // A log that was never so long: the service has not the tiles that would prove it.
  sees(1_000_000)
  const short = await run(['receipt', 'verify', large], { env })
  assert.equal(short.code, 6, short.stdout + short.stderr)
  assert.match(short.stderr, /Could not check whether the \d+ leaves of .* with the 1000000/)
})

test('each service has pins of its own', async () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'services') }
  const file = join(folder, 'own.tlog-proof')
  const own = await run(['receipt', 'verify', await receiptId(), '--out', file], { env })
  assert.equal(own.code, 0, own.stdout + own.stderr)
  const later = await run(['receipt', 'verify', await receiptId()], { env })
  assert.equal(later.code, 0, later.stdout + later.stderr)
  let key = randomBytes(32)
  const origin = () => originOf(key, '2026')
  const validFrom = '2026-01-01T00:00:00Z'
  const other = createServer(({ url }, response) => {
    if (url !== '/.well-known/ergon/receipt-keys.json') response.statusCode = 404
    const keys = [{ origin: origin(), shard: '2026', publicKey: key, validFrom }]
    response.end(JSON.stringify(receiptKeysJson(keys)))
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  try {
    const verifyThere = ['--base-url', address, 'receipt', 'verify', file]
    const there = await run(verifyThere, { env })
    assert.equal(there.code, 0, there.stdout + there.stderr)
    assert.match(there.stderr, new RegExp(`pinned at first use of ${address}: ${origin()}`))
    assert.doesNotMatch(there.stderr, /not pinned/)
    assert.match(there.stderr, /not compared: .*its service does not answer here/)
    key = randomBytes(32)
    const swapped = await run(verifyThere, { env })
    assert.match(swapped.stderr, new RegExp(`not pinned: ${origin()}: another key signs it`))
    const here = await run(['receipt', 'verify', file], { env })
    assert.equal(here.code, 0, here.stdout + here.stderr)
    assert.match(here.stdout, /ok +history/)
    assert.doesNotMatch(here.stderr, /pinned/)
    // A file from before there were several services is of the one that is asked first.
    const pins = join(folder, 'services/ergon/receipt-keys.json')
    const { services, ...old } = JSON.parse(readFileSync(pins, 'utf8')) as { services: object }
    assert.deepEqual(Object.keys(services).toSorted(), [address, ergon.baseUrl].toSorted())
    writeFileSync(pins, JSON.stringify(old))
    const asBefore = await run(['receipt', 'verify', file], { env })
    assert.equal(asBefore.code, 0, asBefore.stdout + asBefore.stderr)
    assert.doesNotMatch(asBefore.stderr, /pinned/)
  } finally {
    other.close()
  }
})

test("a receipt of nobody's verifies without a token, an account's does not", async () => {
  const idOf = async (headers: Record<string, string>) =>
    (await fetch(`${ergon.baseUrl}/v1/models`, { headers })).headers.get('x-receipt-id') ?? ''
  const anonymous = { env: { ERGON_TOKEN: '', XDG_CONFIG_HOME: join(folder, 'nobody') } }
  const nobodys = await run(['receipt', 'verify', await idOf({})], anonymous)
  assert.equal(nobodys.code, 0, nobodys.stdout + nobodys.stderr)
  assert.match(nobodys.stdout, /status 401/)
  const accounts = await idOf({ authorization: `Bearer ${ergon.token}` })
  const refused = await run(['receipt', 'verify', accounts], anonymous)
  assert.equal(refused.code, 4, refused.stderr)
  assert.match(refused.stderr, /ERGON_TOKEN/)
})

test('wrong words, unknown data folders and missing arguments end with 2 or 1 and say what to do', async () => {
  const unknown = await run(['modles', 'list'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /models/)
  assert.equal((await run(['admin', 'token', 'revoke'])).code, 2)
  const nowhere = await run(['--data', join(folder, 'absent'), 'status'])
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.stderr, /data folder/)
  const bad = await run(['models', 'add', '/nowhere/model.gguf'])
  assert.equal(bad.code, 1)
  assert.match(bad.stderr, /model/)
})

test('errors name the flag or the file, and say its form', async () => {
  const notJson = join(folder, 'keys.txt')
  writeFileSync(notJson, 'no JSON')
  const receipt = join(folder, 'receipt.tlog-proof')
  const wrong: readonly [words: readonly string[], code: number, says: RegExp][] = [
    [['receipt', 'verify', '/nonexistent.tlog'], 1, /no such file.*\/nonexistent\.tlog/],
    [['receipt', 'verify', 'receipt'], 1, /no such file.*receipt/],
    [['receipt', 'verify', receipt, '--keys', notJson], 1, /--keys .*keys\.txt.*not JSON/],
    [
      ['receipt', 'verify', receipt, '--keys', '/nowhere.json'],
      1,
      /--keys \/nowhere\.json.*ENOENT/,
    ],
    [
      ['admin', 'account', 'set', ergon.account, '--refuse-token-presign', 'maybe'],
      2,
      /--refuse-token-presign is on or off, not: maybe/,
    ],
    [['admin', 'account', 'set', ergon.account], 2, /Nothing to change.*--refuse-token-presign/],
    [['models', 'add', 'http://127.0.0.1:9'], 2, /--upstream-model is needed/],
  ]
  for (const [words, code, says] of wrong) {
    const answer = await run(words, { env: { ERGON_BASE_URL: 'http://127.0.0.1:9' } })
    assert.equal(answer.code, code, `${words.join(' ')}: ${answer.stderr}`)
    assert.match(answer.stderr, says)
  }
})

test('a model whose file the engine refuses says so, where the operator asks', async () => {
  const file = join(folder, 'damaged.gguf')
  // Cells read it under a uid of their own.
  chmodSync(folder, 0o755)
  writeFileSync(file, 'GGUF, and then nothing of the kind')
  const added = await run(['models', 'add', file])
  assert.equal(added.code, 1)
  const why = /Its process ended 2 times before it answered, last with code 70: .*out of range/
  assert.match(added.stderr, why)
  // As after a start that finds it so: a model that was added before stays, and has failed.
  const upstream = await addUpstream(ergon, 'broken')
  await ergon.sql("update models set state = 'failed', reason = 'its words' where id = 'broken'")
  assert.match((await run(['models', 'list'])).stderr, /^broken is not served: its words$/m)
  await ergon.control('DELETE', '/models/broken')
  await upstream.close()
})

test('completion scripts load in their shells', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell])
    assert.equal(code, 0)
    assert.match(stdout, /receipt/)
  }
  const { stdout } = await run(['completion', 'bash'])
  const script = `${stdout}\nCOMP_WORDS=(ergon admin t); COMP_CWORD=2; _ergon; echo "\${COMPREPLY[*]}"`
  const completed = await new Promise<string>((resolve) =>
    execFile('bash', ['-c', script], (_error, out) => resolve(out.trim())),
  )
  assert.equal(completed, 'token')
})

const metrics = () =>
  new Promise<string>((resolve, reject) => {
    request({ socketPath: join(ergon.runFolder, 'control.sock'), path: '/metrics' }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve(body))
    })
      .on('error', reject)
      .end()
  })

test('the operator’s door prints the metrics of the gateways', async () => {
  const text = await metrics()
  assert.match(text, /^ergon_session_fresh 1$/m)
  assert.match(text, /^ergon_billed_joules [\d.]+$/m)
  assert.match(text, /^ergon_ledger_alarms 0$/m)
  assert.match(text, /^ergon_books_halted 0$/m)
  const overTcp = await fetch(`${ergon.baseUrl}/metrics`)
  assert.equal(overTcp.status, 404, 'not over TCP without ERGON_METRICS_TOKEN')
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
  // What was left by a node that had more gateways; reading it fails, for root too.
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
  { timeout: 120_000 },
  async () => {
    const upstream = await addUpstream(ergon, 'counted')
    const figure = (text: string, name: string) => {
      const line = text.split('\n').find((one) => one.startsWith(`${name} `))
      return Number(line?.slice(name.length) ?? 0)
    }
    const names = {
      ok: 'ergon_requests_total{operation="chat.create",status="2xx"}',
      refused: 'ergon_requests_total{operation="chat.create",status="4xx"}',
      durations: 'ergon_request_duration_seconds_bucket{operation="chat.create",le="+Inf"}',
      durationCount: 'ergon_request_duration_seconds_count{operation="chat.create"}',
      prompt: 'ergon_tokens_total{kind="prompt"}',
      completion: 'ergon_tokens_total{kind="completion"}',
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
    await ergon.control('DELETE', '/models/counted')
    await upstream.close()
  },
)
