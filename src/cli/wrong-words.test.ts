// Messages of the real program for a newcomer: commands of other tools, wrong folders, addresses that are nearly
// right.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const PROGRAM = join(import.meta.dirname, 'ergon.mjs')
const home = mkdtempSync(join(tmpdir(), 'ergon-words-'))
after(() => rmSync(home, { recursive: true, force: true }))

type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs `ergon` in a home of its own, with a token and an address where nothing listens. */
const ergon = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  new Promise<Outcome>((resolve) => {
    const all = {
      HOME: home,
      PATH: process.env['PATH'] ?? '',
      ERGON_TOKEN: `svc_${'a'.repeat(38)}`,
      ERGON_BASE_URL: 'http://127.0.0.1:9',
      ...env,
    }
    execFile(
      process.execPath,
      [PROGRAM, ...words],
      { cwd: home, env: all },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })

test('storage mb is storage create, and no unknown word leads to a command that removes', async () => {
  const made = await ergon(['storage', 'mb', 's3://photos'])
  assert.match(made.stderr, /^error: Could not reach http:\/\/127\.0\.0\.1:9/)
  for (const words of ['storage rc', 'storage rn', 'models remov', 'artifacts prun']) {
    const { code, stderr } = await ergon([...words.split(' '), 'x'])
    assert.equal(code, 2, words)
    assert.match(stderr, /unknown command/)
    assert.doesNotMatch(stderr, /\b(rb|rm|remove|prune)\b/, words)
  }
  for (const [words, next] of [
    ['workloads delete x', 'ergon help workloads'],
    ['nonsense', 'ergon help'],
    ['scale', 'ergon help scale'],
  ] as const)
    assert.ok((await ergon(words.split(' '))).stderr.endsWith(`\n  try: ${next}\n`), words)
  const known = await ergon(['storage', 'presing', 'x'])
  assert.match(known.stderr, /Did you mean presign\?/)
  const json = await ergon(['storage', 'rc', 'x', '--json'])
  assert.doesNotMatch(json.stderr, /\brb\b/)
})

test('a data folder that is named and is none ends every command that asks a service', async () => {
  const config = join(home, '.config/ergon')
  mkdirSync(config, { recursive: true })
  const login = { baseUrl: 'http://127.0.0.1:9', token: `svc_${'a'.repeat(38)}` }
  writeFileSync(join(config, 'credentials.json'), JSON.stringify(login))
  const absent = join(home, 'nothere')
  for (const words of ['models list', 'usage', 'storage ls', 'status', 'receipt list']) {
    for (const [flags, env] of [
      [['--data', absent], { ERGON_BASE_URL: '' }],
      [[], { ERGON_BASE_URL: '', ERGON_DATA: absent }],
    ] as const) {
      const { code, stderr } = await ergon([...flags, ...words.split(' ')], env)
      assert.equal(code, 1, words)
      assert.match(stderr, /^error: No data folder of a service: .*nothere\n {2}try: /, words)
    }
  }
  // A command that calls no service also works before the service's first start.
  assert.equal((await ergon(['completion', 'bash'], { ERGON_DATA: absent })).code, 0)
})

test('an https address of a service that speaks http is told so', async (t) => {
  const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  for (const words of [
    ['models', 'list'],
    ['storage', 'ls'],
  ]) {
    const { code, stderr } = await ergon(['--base-url', `https://127.0.0.1:${port}`, ...words])
    assert.equal(code, 1)
    assert.match(stderr, /speaks http, not https\n {2}try: --base-url http:\/\/127\.0\.0\.1:\d+\n/)
  }
})

test('a file that is absent, a time that is too long and the version are told in plain words', async () => {
  const copy = await ergon(['storage', 'cp', 'nofile', 's3://photos/x'])
  assert.deepEqual([copy.code, copy.stderr], [1, 'error: No such file: nofile\n'])
  const presign = await ergon(['storage', 'presign', 's3://photos/x', '--expires', '8d'])
  assert.equal(presign.code, 2)
  assert.match(presign.stderr, /^error: --expires is at most 7d: "8d"\n/)
  const version = await ergon(['version'])
  assert.equal(version.code, 0, version.stderr)
  assert.equal(version.stdout, (await ergon(['--version'])).stdout)
})

test('on a terminal, what takes a while says at once what is being done', async (t) => {
  const data = join(home, 'data')
  mkdirSync(data)
  writeFileSync(join(data, 'ergon.json'), JSON.stringify({ port: 9, runFolder: data }))
  writeFileSync(join(home, 'mine.gguf'), 'GGUF')
  const server = createServer((_, response) => response.end('{"result":{"id":"it"}}'))
  t.after(() => server.close())
  await once(server.listen(join(data, 'control.sock')), 'listening')
  const pull = `models pull https://a.example/b.gguf --sha256 ${'0'.repeat(64)}`
  for (const [words, told] of [
    ['models add ./mine.gguf', 'loading mine.gguf …'],
    ['models add smollm2', 'fetching and loading smollm2 …'],
    [pull, 'fetching and loading b.gguf …'],
    ['artifacts fetch pgvector-16', 'fetching pgvector-16 …'],
  ] as const) {
    const command = `'${process.execPath}' '${PROGRAM}' --data '${data}' ${words}`
    const said = await new Promise<string>((resolve) =>
      execFile('script', ['-qec', command, '/dev/null'], { cwd: home }, (_, out) => resolve(out)),
    )
    assert.ok(said.startsWith(told), said)
    const piped = await ergon(['--data', data, ...words.split(' ')])
    assert.ok(!piped.stderr.includes(told), piped.stderr)
  }
})
