// The command line: what it prints, tokens, models, wrong words, completion.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { readArguments } from '#cells/process-table.ts'
import { embeddingModel } from '../default-models.ts'
import { writeRandomLlama } from '../gguf/random-llama.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream } from '../upstreams.ts'
import { commandLine, PROGRAM } from './command-line.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const { folder, run, runAlone, json } = commandLine()

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

test('status, meter, accounts, tokens, artifacts and models print JSON and tables', async () => {
  const status = (await json(['status'])) as {
    cells: { name: string; state: string; pid: number; launcher_pid: number }[]
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
  for (const { name, pid } of status.cells.filter(({ state }) => state === 'ready')) {
    const program = readArguments(pid)[0] ?? ''
    assert.match(program, /\/(node|postgres)$/, `the PID of ${name} is that of ${program}`)
  }
  const accounts = (await json(['admin', 'account', 'list'])) as {
    id: string
    balance_pusd: string
  }[]
  assert.equal(accounts[0]?.id, ergon.account)
  const artifacts = (await json(['artifacts', 'list'])) as { name: string }[]
  assert.ok(artifacts.some((one) => one.name === 'pgvector-16'))
  assert.ok(Array.isArray(await json(['models', 'list'])))
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

test('usage has a row for each step of time', async () => {
  await run(['usage'])
  const { data } = (await json(['usage', '--step', 'hour'])) as { data: { at: string }[] }
  assert.ok(data.length > 0)
  for (const { at } of data) assert.match(at, /:00:00\.000Z$/)
  assert.match((await run(['usage', '--step', 'minute'])).stdout, /^FROM +SERVICE /)
  assert.match(
    (await run(['usage', '--step', 'week'])).stderr,
    /"week" is not one of minute, hour, day/,
  )
})

test('usage and ledger are of a time from and to, and refuse times that are none', async () => {
  // A day before any product.
  const to = '2026-01-02T00:00:00.000Z'
  for (const command of ['usage', 'ledger']) {
    const early = await run([command, '--from', '2026-01-01', '--to', to])
    assert.equal(early.code, 0, early.stderr)
    assert.match(early.stdout, / 0(\.\d+)? J/)
    const wrong = await run([command, '--from', 'yesterday'])
    assert.deepEqual([wrong.code, /--from is no time: yesterday/.test(wrong.stderr)], [2, true])
    const both = await run([command, '--since', '1h', '--to', to])
    assert.deepEqual([both.code, /Give --since, or --from and --to/.test(both.stderr)], [2, true])
  }
})

test('usage says the band of the energy, and how much of it a sensor read', async () => {
  await run(['usage'])
  const { data } = (await json(['usage'])) as { data: { energy_nj: string; measured_nj: string }[] }
  assert.ok(data.length > 0 && data.every(({ energy_nj: energy }) => BigInt(energy) > 0n))
  assert.ok(data.every((row) => BigInt(row.measured_nj) <= BigInt(row.energy_nj)))
  assert.match((await run(['usage'])).stdout, /BAND +MEASURED.*\n.* ±\d+ % +\d+ % /)
  const byToken = await run(['usage', '--group-by', 'token'])
  assert.match(byToken.stdout, /^KIND +TOKEN .*\n(.*\n)*token +\S/, 'no token is its id alone')
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
  const wrong = await runAlone(['login'], {
    input: `svc_${'x'.repeat(38)}\n`,
    env: { ERGON_TOKEN: '' },
  })
  assert.equal(wrong.code, 4, wrong.stderr)
  const done = await runAlone(['login'], { input: `${ergon.token}\n`, env: { ERGON_TOKEN: '' } })
  assert.equal(done.code, 0, done.stderr)
  assert.ok(!done.stdout.includes(ergon.token) && !done.stderr.includes(ergon.token))
  const used = await run(['usage'], { env: { ERGON_TOKEN: '' } })
  assert.equal(used.code, 0, used.stderr)
  // From a folder without a service, by what was stored alone.
  const list = await runElsewhere(['models', 'list'])
  assert.equal(list.code, 0, list.stderr)
  assert.match(list.stdout, /^MODEL/)
  const elsewhere = ['--base-url', `http://127.0.0.1:${ergon.port}`, 'usage']
  const kept = await run(elsewhere, { env: { ERGON_TOKEN: '' } })
  assert.equal(kept.code, 4, 'the token goes to no other address')
})

const CTRL_C = '\u0003'

/** Runs `ergon` in a folder that has no data folder, with no token in its environment. */
function runElsewhere(words: readonly string[]) {
  const env = { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: folder }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) =>
    execFile(process.execPath, [PROGRAM, ...words], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    ),
  )
}

test('the address of a service may lack its scheme, or end in /v1 as SDKs want it', async () => {
  const { port } = ergon
  for (const address of [
    `localhost:${port}`,
    `127.0.0.1:${port}`,
    `http://localhost:${port}/v1/`,
  ]) {
    const { code, stderr } = await run(['--base-url', address, 'usage'])
    assert.equal(code, 0, stderr)
  }
  const wrong = await run(['--base-url', 'ftp://localhost', 'usage'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /Not an address of a service: ftp:\/\/localhost/)
})

test('with --json an error is one JSON object in the last line of stderr', async () => {
  const failures: [words: string[], error: object][] = [
    [['modles'], { code: 'wrong_usage', exit_code: 2 }],
    [['models', 'add', './no-such-file', '--name', 'x'], { code: 'failed', exit_code: 1 }],
    [['models', 'remove', 'nobody'], { code: 'model_not_found', exit_code: 1 }],
    [['receipt', 'verify', 'rcpt_00000000000000000000000000'], { exit_code: 1 }],
  ]
  for (const [words, expected] of failures) {
    const { code, stdout, stderr } = await run([...words, '--json'])
    assert.equal(stdout, '')
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as {
      error: Record<string, unknown>
    }
    assert.deepEqual(Object.keys(error), ['code', 'message', 'next', 'exit_code', 'request_id'])
    assert.equal(error['exit_code'], code)
    assert.partialDeepStrictEqual(error, expected)
  }
  const refused = await run(['usage', '--json'], { env: { ERGON_TOKEN: `svc_${'x'.repeat(38)}` } })
  assert.equal(refused.code, 4)
  assert.match(refused.stderr, /^\{"error":\{"code":"token_unknown",.*"next":"ergon login/m)
})

test('models add says that there is no such file, or no such model, whatever else was said of it', async () => {
  const file = await run(['models', 'add', './no-such-file', '--name', 'x'])
  assert.deepEqual([file.code, file.stderr], [1, 'error: No such file: ./no-such-file\n'])
  const name = await run(['models', 'add', 'no-such-model', '--name', 'x', '--operator', 'y'])
  assert.match(name.stderr, /Could not add "no-such-model": it is no file, no address, and none of/)
  const address = await run(['models', 'add', 'localhost:11434/v1', '--upstream-model', 'x'])
  assert.match(address.stderr, /try: ergon models add http:\/\/localhost:11434\/v1/)
})

test('meter --watch shows one page over the other on a terminal, and leaves the last one', async () => {
  const command = `stty cols 60 rows 20; exec '${process.execPath}' '${PROGRAM}' --data '${ergon.dataFolder}' meter --watch`
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm' },
  })
  let out = ''
  let isEnough = false
  child.stdout.on('data', (bytes: Buffer) => {
    out += bytes.toString()
    if (isEnough || out.split('\u001b[H').length < 3) return
    isEnough = true
    child.stdin.write(CTRL_C)
  })
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  const [before, pages = '', after = ''] = out.replaceAll('\u001b', '^').split(/\^\[\?1049[hl]/)
  assert.equal(before, '')
  assert.match(pages, /\^\[H\S+ W now.*\^\[J/s)
  assert.match(after, /^\S+ W now.*true-up /s)
  const lines = await runAlone(['meter', '--watch', '--json'], { linesMax: 2 })
  assert.equal(lines.code, 0, lines.stderr)
  for (const line of lines.stdout.trim().split('\n')) assert.ok('now' in JSON.parse(line))
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

test('a command with wrong words ends with 2, and one with a data folder that is none with 1', async () => {
  const scope = await run(['admin', 'token', 'create', '--scope', 'bogus'])
  assert.equal(scope.code, 2)
  assert.match(scope.stderr, /--scope is one of read, deploy, billing-admin, not: bogus/)
  const nowhere = await run(['receipt', 'verify', 'rcpt_01', '--data', join(folder, 'absent')], {
    env: { XDG_CONFIG_HOME: join(folder, 'nobody') },
  })
  assert.equal(nowhere.code, 1)
  assert.match(nowhere.stderr, /No data folder of a service: .*absent\n {2}try: .*--data <folder>/)
})

test('usage and energy sum as far back as the service does, and say so where more was asked', async () => {
  for (const command of ['usage', 'energy'])
    for (const [since, isMore] of [
      ['400d', false],
      ['9999d', true],
    ] as const) {
      const { code, stderr } = await run([command, '--since', since])
      assert.equal(code, 0, stderr)
      assert.equal(/of the last 400 days, which is the most/.test(stderr), isMore, stderr)
    }
})

test('an artifact that was damaged and removed ends with 1 and says what runs', async () => {
  const listed = (await json(['artifacts', 'list'])) as { name: string; present: boolean }[]
  assert.ok(listed.find(({ name }) => name === 'pgvector-16')?.present, 'there is one to damage')
  const good = await run(['artifacts', 'verify', 'pgvector-16'])
  assert.equal(good.code, 0, good.stdout + good.stderr)
  const name = readdirSync(join(ergon.dataFolder, 'artifacts')).find((one) =>
    /^pgvector-16-[\d.]+$/.test(one),
  )
  const home = join(ergon.dataFolder, 'artifacts', name ?? '')
  const copy = join(folder, 'pgvector')
  cpSync(home, copy, { recursive: true })
  const files = readdirSync(home, { recursive: true, withFileTypes: true })
  const library = files.find((entry) => entry.isFile() && entry.name.endsWith('.so'))
  const path = join(library?.parentPath ?? '', library?.name ?? '')
  const bytes = readFileSync(path)
  // Not through the hard link: the cache has the same file.
  rmSync(path)
  writeFileSync(path, bytes.fill(0, 64, 72))
  const damaged = await run(['artifacts', 'verify', 'pgvector-16'])
  assert.equal(damaged.code, 1)
  assert.match(damaged.stdout, /^pgvector-16 +removed$/m)
  assert.match(damaged.stderr, /removed: pgvector-16; what runs .*\n.*start it again/)
  assert.ok(!existsSync(home))
  cpSync(copy, home, { recursive: true })
  assert.equal((await run(['artifacts', 'verify', 'pgvector-16'])).code, 0)
})

test('errors name the flag or the file, and say its form', async () => {
  const notJson = join(folder, 'keys.txt')
  writeFileSync(notJson, 'no JSON')
  const receipt = join(folder, 'receipt.tlog-proof')
  writeFileSync(receipt, '')
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
  await ergon.control('model.remove', { model: 'broken' })
  await upstream.close()
})

test('a file is served as what it is, whatever was said of it', async (t) => {
  const encoder = embeddingModel()
  if ('reason' in encoder) return t.skip(encoder.reason)
  chmodSync(folder, 0o755)
  const bert = join(folder, 'bert.gguf')
  copyFileSync(encoder.file, bert)
  const llama = join(folder, 'llama.gguf')
  writeRandomLlama(llama, { context: 512 })
  const refused: [words: string[], says: RegExp][] = [
    [[bert], /it is an embedding model \(bert\): add it with --embedding/],
    [[bert, '--embedding', '--dimensions', '999'], /its vectors have 384 numbers, not 999/],
    [[bert, '--embedding', '--context', '513'], /--context 512 is the most/],
    [[llama, '--embedding'], /it generates text \(llama\) and has no embeddings/],
    [[llama, '--context', '4096'], /it was trained for 512 tokens/],
  ]
  const before = await json(['models', 'list'])
  for (const [words, says] of refused) {
    const { code, stderr } = await run(['models', 'add', ...words])
    assert.equal(code, 1, stderr)
    assert.match(stderr, says)
    assert.match(stderr, /Could not serve the file: /)
  }
  assert.deepEqual(await json(['models', 'list']), before, 'none of them is kept')

  for (const words of [[bert, '--embedding'], [llama]])
    assert.equal((await run(['models', 'add', ...words])).code, 0)
  const list = (await json(['models', 'list'])) as { id: string; context_length: number }[]
  const contexts = list.map(({ id, context_length: context }) => [id, context])
  assert.deepEqual(contexts, [
    ['bert', 512],
    ['llama', 512],
    ['auto', 512],
  ])
  const asked = await fetch(`${ergon.baseUrl}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bert', input: 'a text', dimensions: 384 }),
  })
  assert.equal(asked.status, 200, await asked.text())
  for (const id of ['bert', 'llama']) await ergon.control('model.remove', { model: id })
})
