// Commands as they are typed, at a service that answers as the test says.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, suite, test } from 'node:test'

const DOOR = join(import.meta.dirname, 'ergon.mjs')
const EXPORT = '{"record":"account"}\n{"record":"end","records":1}\n'
const page = (...data: object[]) =>
  JSON.stringify({ object: 'list', data, has_more: false, next_cursor: null })
const member = { name: 'A', role: 'owner', contact: null, joined_at: null, current: false }
const until = '2026-11-27T10:00:00.000Z'
const backup = {
  id: 'bkp_1',
  kind: 'manual',
  status: 'running',
  reason: null,
  stored_bytes: 0,
  created_at: until,
  ended_at: null,
}
const asleep = { from: until, to: until, woken_by: 'a connection', role: 'notes', slept_by: 'idle' }
const upgraded = (version: string, upgrading: boolean, to: string | null) => ({
  name: 'notes',
  status: 'deployed',
  upgrading,
  last_awake: { ...asleep, to },
  extensions: [
    { name: 'hstore', version: '1.8' },
    { name: 'vector', version },
  ],
})
const [shown, unbacked] = ['shown', 'unbacked'].map((name) =>
  JSON.stringify({
    name,
    id: 'db_1',
    status: 'deployed',
    reason: null,
    restore: null,
    last_awake: null,
    region: 'local',
    stored_bytes: 0,
    size_bytes: 256e6,
    full: false,
    wal_bytes: 0,
    energy_budget: null,
    energy_budget_used_j: null,
    postgres_version: '16.4',
    vector_version: null,
    extensions: [],
    upgrading: false,
    host: 'h',
    port: 1,
    role: name,
    created_at: until,
  }),
) as [string, string]
const restoring = (step: string, done: number) => ({ step, done_bytes: done, total_bytes: 9 })
const TRIED = 'the store is away; it is tried again by itself'
/** The answers to the polls of a path, in order; the last answer stays. */
const polled = (...answers: object[]) => answers.map((answer) => JSON.stringify(answer))
/** Its work never ends. */
const slow = { name: 'slow', status: 'deploying', reason: null, version: 1, live_version: null }
/** The answer of a service that stops. */
const AWAY = '{"title":"draining","detail":"No"}'
const LOG = JSON.stringify({ object: 'list', data: [], cursor: '0' })
const logOf = (text: string) =>
  JSON.stringify({ data: [{ at: until, level: 'info', request_id: null, text }], cursor: '1' })
const POLLS: Readonly<Record<string, readonly string[]>> = {
  '/v1/functions/busy/logs': [logOf('one'), AWAY, logOf('two'), LOG],
  '/v1/databases/notes/backups/bkp_1': polled(
    { ...backup, done_bytes: 0, total_bytes: null },
    { ...backup, done_bytes: 45, total_bytes: 100 },
    { ...backup, done_bytes: 45, total_bytes: 100 },
    { ...backup, status: 'done', done_bytes: 100, total_bytes: 100 },
  ),
  '/v1/databases/notes-two': polled(
    { name: 'notes-two', reason: null, status: 'restoring', restore: null },
    { name: 'notes-two', reason: null, status: 'restoring', restore: restoring('copy', 7) },
    { name: 'notes-two', reason: null, status: 'restoring', restore: restoring('log', 9) },
    { name: 'notes-two', reason: null, status: 'restoring', restore: restoring('log', 9) },
    { name: 'notes-two', reason: null, status: 'restoring', restore: restoring('checks', 9) },
    { name: 'notes-two', reason: null, status: 'deployed', restore: null },
  ),
  '/v1/databases/again': polled(
    { name: 'again', reason: null, status: 'restoring', restore: restoring('copy', 7) },
    { name: 'again', reason: TRIED, status: 'restoring', restore: restoring('copy', 0) },
    { name: 'again', reason: TRIED, status: 'restoring', restore: restoring('copy', 0) },
    { name: 'again', reason: null, status: 'deployed', restore: null },
  ),
  '/v1/databases/notes': polled(
    upgraded('0.6.0', true, until),
    upgraded('0.6.0', true, null),
    upgraded('0.6.0', true, null),
    upgraded('0.8.0', false, null),
  ),
}
/** The answers about a database that is deleted. Its last backup has ended at `until`. */
function deletable(name: string, restorable: readonly object[]): Readonly<Record<string, string>> {
  const done = { ...backup, status: 'done', ended_at: until }
  const data = [
    { ...done, id: 'bkp_3', status: 'failed' },
    { ...done, id: 'bkp_2' },
    { ...done, id: 'bkp_1', ended_at: '2026-11-20T10:00:00.000Z' },
  ]
  return {
    [`/v1/databases/${name}/backups`]: JSON.stringify({ object: 'list', data, restorable }),
    [`DELETE /v1/databases/${name}`]: JSON.stringify({ id: 'db_1', restorable_until: until }),
  }
}

const ANSWERS: Readonly<Record<string, string>> = {
  '/v1/functions/quiet/logs': LOG,
  '/v1/functions': page(),
  'PATCH /v1/functions/slow': '{}',
  '/v1/functions/slow': JSON.stringify({ ...slow, versions: [] }),
  'POST /v1/databases/slow/backups': '{"id":"bkp_2"}',
  '/v1/databases/slow/backups/bkp_2': JSON.stringify({ ...backup, done_bytes: 0 }),
  '/v1/databases/slow': JSON.stringify(slow),
  '/v1/workloads/quiet/logs': LOG,
  '/v1/deployments': page(),
  'POST /v1/workloads/api/scale': '{"scale":{"min":1,"max":5,"target_requests":20}}',
  '/v1/workloads': page(),
  '/v1/databases/shown': shown,
  '/v1/databases/shown/backups': JSON.stringify({
    object: 'list',
    data: [],
    restorable_from: until,
    restorable: [{ from: until, to: null }],
  }),
  ...deletable('whole', [{ from: until, to: null }]),
  // A part of its log is lost behind its last backup, or before the end of that.
  ...deletable('cut', [
    { from: '2026-11-20T10:00:00.000Z', to: '2026-11-21T10:00:00.000Z' },
    { from: until, to: '2026-11-27T10:30:00.000Z' },
  ]),
  ...deletable('cut-early', [{ from: '2026-11-20T10:00:00.000Z', to: '2026-11-21T10:00:00.000Z' }]),
  ...deletable('ends-alone', []),
  // The list of its backups is not there.
  '/v1/databases/unbacked': unbacked,
  '/v1/account/export': EXPORT,
  '/v1/members': page(
    { id: 'mem_1', ...member, state: 'active', invitation_expires_at: until },
    { id: 'mem_2', ...member, state: 'invited', invitation_expires_at: until },
  ),
  '/v1/audit': page({
    at: until,
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
  '/v1/databases/notes/backups': JSON.stringify({
    object: 'list',
    data: [{ ...backup, done_bytes: 45, total_bytes: 100 }],
    restorable_from: null,
    log_lost_from: null,
    restorable: [],
    stored_bytes: 0,
  }),
  'POST /v1/databases/notes/backups': '{"id":"bkp_1"}',
  '/v1/databases/notes/url': '{"url":"postgresql://notes:secret@127.0.0.1:1/notes"}',
  'PATCH /v1/databases/notes': JSON.stringify(upgraded('0.6.0', true, until)),
  'POST /v1/databases': '{"name":"notes-two"}',
  '/v1/compliance/packs': JSON.stringify({ id: 'pack_1', state: 'waits', ceiling_pusd: '1900000' }),
}

const event = (sequence: number, type: string) => ({
  event: type,
  event_id: `evt_${sequence}`,
  occurred_at: until,
  data: { account_id: 'acct_1', sequence },
})
/** Nothing was there before the call. */
const EVENTS = [page(), page(event(1, 'receipt.published'), event(2, 'balance.low')), page()]

const LISTEN = ['webhook', 'listen', '--forward-to']
const TOP_UP = join(import.meta.dirname, '../../examples/top-up.sh')

suite('commands at a service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-typed-'))
  let server: Server
  let events: string[] = []
  /** The last body of each method and path. */
  const bodies = new Map<string, string>()
  const polls = new Map(Object.entries(POLLS).map(([path, answers]) => [path, [...answers]]))
  const pollOf = (path: string) => {
    const left = polls.get(path)
    return left !== undefined && left.length > 1 ? left.shift() : left?.[0]
  }
  before(async () => {
    server = createServer(async (request, response) => {
      const { url = '', method = '' } = request
      const path = url.split('?')[0] ?? ''
      bodies.set(`${method} ${path}`, await text(request))
      const answer =
        path === '/v1/events'
          ? (events.shift() ?? page())
          : (ANSWERS[`${method} ${path}`] ?? pollOf(path) ?? ANSWERS[url] ?? ANSWERS[path])
      const status = answer === undefined ? 404 : answer === AWAY ? 503 : 200
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(answer ?? '{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })

  function startIn(more: Readonly<Record<string, string>>, program: string, ...words: string[]) {
    const { port } = server.address() as { port: number }
    const env = {
      ...process.env,
      ERGON_BASE_URL: `http://127.0.0.1:${port}`,
      ERGON_TOKEN: `svc_${'a'.repeat(38)}`,
      ...more,
    }
    return spawn(program, words, { cwd: folder, env })
  }

  const start = (program: string, ...words: string[]) => startIn({}, program, ...words)
  const ergon = (...words: string[]) => run(process.execPath, DOOR, ...words)
  const run = (program: string, ...words: string[]) => outcomeOf(start(program, ...words))
  const runIn = (more: Readonly<Record<string, string>>, ...words: string[]) =>
    outcomeOf(startIn(more, process.execPath, DOOR, ...words))

  async function outcomeOf(child: ReturnType<typeof start>) {
    const ended = once(child, 'exit')
    const [out, told] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await ended) as [number]
    return { code, out, told }
  }

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
      const child = start(process.execPath, DOOR, ...words.split(' '))
      const outcome = outcomeOf(child)
      // The command waits from its first poll on.
      while (!bodies.has(`GET ${path}`) && child.exitCode === null) await pause(20)
      child.kill('SIGINT')
      const { code, told } = await outcome
      assert.deepEqual([code, told.includes(`goes on: ${next}\n`)], [130, true], told)
    }
  })

  test('fn deploy takes its file behind variables and triggers, too', async () => {
    writeFileSync(join(folder, 'typed.mjs'), 'export default () => new Response()\n')
    const words = '--env A=1 --env B=2 --on bucket/b/object-created typed.mjs'.split(' ')
    const { told } = await ergon('fn', 'deploy', ...words)
    const { name, env, on } = JSON.parse(bodies.get('POST /v1/functions') ?? '{}') as {
      readonly [member: string]: unknown
    }
    const wanted = ['typed', { A: '1', B: '2' }, ['bucket/b/object-created']]
    assert.deepEqual([name, env, on], wanted, told)
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
    const child = start(process.execPath, DOOR, 'fn', 'logs', 'busy', '-f')
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

  test('db backup list tells how far a backup is', async () => {
    const { out } = await ergon('db', 'backup', 'list', 'notes')
    assert.match(out, /bkp_1 .*running, 45 % read/)
  })

  test('db delete prints a command that restores the last state that can be restored', async () => {
    const toldOf = async (name: string) => {
      const { code, told } = await ergon('db', 'delete', name, '--force')
      assert.equal(code, 0, told)
      return told.trim()
    }
    const begin = 'Until 2026-11-27T10:00:00.000Z it can be restored'
    const without = `${begin} without its last rows, as a part of its log was lost: ergon db restore db_1`
    assert.equal(
      await toldOf('whole'),
      `whole is deleted. ${begin}: ergon db restore db_1 --as whole`,
    )
    const cut = '--to 2026-11-27T10:30:00.000Z --as cut'
    assert.equal(await toldOf('cut'), `cut is deleted. ${without} ${cut}`)
    for (const name of ['cut-early', 'ends-alone'])
      assert.equal(await toldOf(name), `${name} is deleted. ${without} --backup bkp_2 --as ${name}`)
  })

  test('db show has the times that a database can be restored to, also with --json', async () => {
    const { out } = await ergon('db', 'show', 'shown')
    assert.match(out, /restorable +to each second from 2026-11-27T10:00:00.000Z on/)
    const json = await ergon('db', 'show', 'shown', '--json')
    const { restorable } = JSON.parse(json.out) as { restorable: unknown }
    assert.deepEqual(restorable, [{ from: until, to: null }])
  })

  test('db show shows a database whose backups cannot be read, and says what is missing', async () => {
    for (const more of [[], ['--json']]) {
      const { code, out, told } = await ergon('db', 'show', 'unbacked', ...more)
      assert.deepEqual([code, /unbacked/.test(out)], [0, true], told)
      assert.match(told, /Could not read what unbacked can be restored to/)
    }
  })

  /** The progress that a command told with --json, a line each. */
  const progressOf = (told: string) =>
    told
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{"progress"'))
      .map((line) => (JSON.parse(line) as { progress: unknown }).progress)

  test('db backup create --json tells each step of the backup once, and prints the backup', async () => {
    const { code, out, told } = await ergon('db', 'backup', 'create', 'notes', '--json')
    assert.equal(code, 0, told)
    const what = 'backup of notes'
    assert.deepEqual(progressOf(told), [
      { what, done_bytes: 0, total_bytes: null },
      { what, done_bytes: 45, total_bytes: 100 },
    ])
    assert.equal((JSON.parse(out) as { status: string }).status, 'done')
  })

  test('db restore --json tells how far the restore is, and prints the database', async () => {
    const words = ['db', 'restore', 'notes', '--as', 'notes-two', '--json']
    const { code, out, told } = await ergon(...words)
    assert.equal(code, 0, told)
    const what = 'restore of notes-two'
    assert.deepEqual(progressOf(told), [
      { what, done_bytes: 0, total_bytes: null },
      { what, done_bytes: 7, total_bytes: 9 },
      { what, done_bytes: 9, total_bytes: 9 },
      { what: `${what}: its log is replayed` },
      { what: `${what}: its tables are read` },
    ])
    assert.equal((JSON.parse(out) as { status: string }).status, 'deployed')
  })

  test('db upgrade --json tells each step once, and the extensions that changed', async () => {
    const { code, out, told } = await ergon('db', 'upgrade', 'notes', '--json')
    assert.equal(code, 0, told)
    assert.deepEqual(progressOf(told), [
      { what: 'upgrade of notes: its server starts' },
      { what: 'upgrade of notes: the extensions are updated' },
      { what: 'upgrade of notes: vector 0.6.0 is now 0.8.0' },
    ])
    assert.equal((JSON.parse(out) as { upgrading: boolean }).upgrading, false)
  })

  /** Programs of PostgreSQL that write, or read, some bytes and then take a while. */
  function placeTools(): Readonly<Record<string, string>> {
    const tool = (name: string, lines: string) =>
      writeFileSync(
        join(folder, name),
        `#!/bin/sh\n[ "$1" = --version ] && exec echo "${name} (PostgreSQL) 16.4"\n${lines}\n`,
        { mode: 0o755 },
      )
    tool(
      'pg_dump',
      'for last; do :; done\n[ -d "${last%/*}" ] && exec > "$last"\nprintf 12345\nsleep 1',
    )
    // Of a file that it is given the first bytes, and after a while the rest.
    const reads = `file=; for last; do [ "$before" = --file ] && file=$last; before=$last; done`
    tool(
      'psql',
      `${reads}\n[ -z "$file" ] && exec cat > /dev/null\nexec 3< "$file"\ndd bs=6 count=1 <&3 > /dev/null 2>&1\nsleep 1`,
    )
    tool(
      'pg_restore',
      'for last; do :; done\nexec 3< "$last"\ndd bs=5 count=1 <&3 > /dev/null 2>&1\nsleep 1',
    )
    return { PATH: `${folder}:${process.env['PATH']}` }
  }

  test('db export --json tells the bytes that are written', async () => {
    const file = join(folder, 'notes.dump')
    const { code, told } = await runIn(placeTools(), 'db', 'export', 'notes', file, '--json')
    assert.equal(code, 0, told)
    const line = '{"progress":{"what":"export of notes","done_bytes":5,"total_bytes":null}}'
    assert.ok(told.split('\n').includes(line), told)
    assert.equal(readFileSync(file, 'utf8'), '12345')
  })

  test('db import --json tells the bytes that come from the other database', async () => {
    const source = 'postgresql://me@127.0.0.1:1/old'
    const { code, told } = await runIn(placeTools(), 'db', 'import', 'notes', source, '--json')
    assert.equal(code, 0, told)
    const line = '{"progress":{"what":"import into notes","done_bytes":5,"total_bytes":null}}'
    assert.ok(told.split('\n').includes(line), told)
  })

  for (const [kind, content, bytes] of [
    ['SQL', 'select 1;\n', 6],
    ['an archive', 'PGDMP of pg_dump', 5],
  ] as const)
    test(`db import --json tells the bytes of a file of ${kind} that are read, of how many`, async () => {
      const file = join(folder, 'of.dump')
      writeFileSync(file, content)
      const { code, told } = await runIn(placeTools(), 'db', 'import', 'notes', file, '--json')
      assert.equal(code, 0, told)
      const what = 'import into notes'
      const total = content.length
      assert.deepEqual(
        progressOf(told).filter((one) => (one as { done_bytes: number }).done_bytes > 0),
        [
          { what, done_bytes: bytes, total_bytes: total },
          { what, done_bytes: total, total_bytes: total },
        ],
      )
    })

  test(
    'db import draws a bar on a terminal',
    { skip: existsSync('/usr/bin/script') ? false : 'not installed: script' },
    async () => {
      const file = join(folder, 'of.sql')
      writeFileSync(file, 'select 1;\n')
      const command = [process.execPath, DOOR, 'db', 'import', 'notes', file].join(' ')
      const words = ['--quiet', '--return', '--command', command, '/dev/null']
      const { code, out } = await outcomeOf(startIn(placeTools(), 'script', ...words))
      assert.equal(code, 0, out)
      assert.match(out, /import into notes .*0\/0 MiB/)
      assert.match(out, /notes has everything of the import/)
    },
  )

  test(
    'db restore tells a try that failed on a line of its own, without the bar',
    { skip: existsSync('/usr/bin/script') ? false : 'not installed: script' },
    async () => {
      const command = [process.execPath, DOOR, 'db', 'restore', 'notes', '--as', 'again'].join(' ')
      const words = ['--quiet', '--return', '--command', command, '/dev/null']
      const { code, out } = await outcomeOf(startIn({}, 'script', ...words))
      assert.equal(code, 0, out)
      const lines = out.split('\n').filter((line) => line.includes(TRIED))
      assert.equal(lines.length, 1, out)
      // The bar is erased before the line begins.
      const [before = '', line] = lines[0]?.split('\r\u001b[2Krestore of again: ') ?? []
      assert.equal(line?.trim(), `${TRIED} …`, JSON.stringify(lines[0]))
      assert.ok(!before.includes(TRIED))
    },
  )

  test('audit does not call an automatic top-up an act of the operator', async () => {
    const { out } = await ergon('audit')
    assert.match(out, /automatic +topup\.create/)
  })

  test('evidence create says the unit of what it costs', async () => {
    const { told } = await ergon('evidence', 'create', '--from', '2026-01-01', '--to', '2026-02-01')
    assert.match(told, /It costs 0\.0000019 dollars at most/)
  })

  test('webhook listen forwards receipt.published where it is asked for by name', async () => {
    const { port } = server.address() as { port: number }
    const first = async (...more: string[]) => {
      events = [...EVENTS]
      const child = start(process.execPath, DOOR, ...LISTEN, `localhost:${port}`, ...more)
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
