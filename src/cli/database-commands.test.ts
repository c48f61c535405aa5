// The commands of databases as they are typed, at a service that answers as the test says.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { CHANGE_UNDER_WAY } from '#contract/resources/passing-reasons.ts'
import { AT, backup, fakeService, outcomeOf, PROGRAM } from './fake-service.fixture.ts'

const asleep = { from: AT, to: AT, woken_by: 'a connection', role: 'notes', slept_by: 'idle' }
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
    created_at: AT,
  }),
) as [string, string]
const restoring = (step: string, done: number) => ({ step, done_bytes: done, total_bytes: 9 })
const USED_UP =
  'today\'s energy budget of this database is used up. Raise it: ergon db budget notes "<energy>/day"'
const TRIED = 'the store is away; it is tried again by itself'
/** The answers to the polls of a path, in order; the last answer stays. */
const polled = (...answers: object[]) => answers.map((answer) => JSON.stringify(answer))
const POLLS = {
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
  '/v1/databases/copied': polled(
    { name: 'copied', reason: null, status: 'restoring', restore: restoring('copy', 7) },
    { name: 'copied', reason: null, status: 'restoring', restore: restoring('checks', 9) },
    { name: 'copied', reason: null, status: 'deploying', restore: null },
    { name: 'copied', reason: null, status: 'deployed', restore: null },
  ),
  '/v1/databases/again': polled(
    { name: 'again', reason: null, status: 'restoring', restore: restoring('copy', 7) },
    { name: 'again', reason: TRIED, status: 'restoring', restore: restoring('copy', 0) },
    { name: 'again', reason: TRIED, status: 'restoring', restore: restoring('copy', 0) },
    { name: 'again', reason: null, status: 'deployed', restore: null },
  ),
  '/v1/databases/switched': [CHANGE_UNDER_WAY, null].map((reason) =>
    JSON.stringify({ ...(JSON.parse(shown) as object), status: 'suspended', reason }),
  ),
  '/v1/databases/notes': polled(
    upgraded('0.6.0', true, AT),
    upgraded('0.6.0', true, null),
    upgraded('0.6.0', true, null),
    upgraded('0.8.0', false, null),
  ),
}
/** The answers about a database that is deleted. Its last backup has ended at `AT`. */
function deletable(name: string, restorable: readonly object[]): Readonly<Record<string, string>> {
  const done = { ...backup, status: 'done', ended_at: AT }
  const data = [
    { ...done, id: 'bkp_3', status: 'failed' },
    { ...done, id: 'bkp_2' },
    { ...done, id: 'bkp_1', ended_at: '2026-11-20T10:00:00.000Z' },
  ]
  return {
    [`/v1/databases/${name}/backups`]: JSON.stringify({ object: 'list', data, restorable }),
    [`DELETE /v1/databases/${name}`]: JSON.stringify({ id: 'db_1', restorable_until: AT }),
  }
}

const ANSWERS = {
  '/v1/databases/shown': shown,
  '/v1/databases/stopped': JSON.stringify({
    ...(JSON.parse(shown) as object),
    name: 'stopped',
    energy_budget: '50 J/day',
    energy_budget_used_j: 49.5,
  }),
  '/v1/databases/stopped/backups': JSON.stringify({
    object: 'list',
    data: [],
    restorable_from: null,
  }),
  '/v1/databases/notes/queries': JSON.stringify({
    object: 'database.queries',
    basis: 'an estimate',
    from: AT,
    to: AT,
    energy_j: 4,
    other_j: 0.5,
    rest_j: 0.5,
    data: Array.from({ length: 30 }, (_, nth) => ({
      query: `select ${nth}`,
      calls: 1,
      rows: 1,
      execution_ms: 1,
      energy_j: 0.1,
    })),
  }),
  '/v1/databases/shown/backups': JSON.stringify({
    object: 'list',
    data: [],
    restorable_from: AT,
    restorable: [{ from: AT, to: null }],
  }),
  ...deletable('whole', [{ from: AT, to: null }]),
  // A part of its log is lost behind its last backup, or before the end of that.
  ...deletable('cut', [
    { from: '2026-11-20T10:00:00.000Z', to: '2026-11-21T10:00:00.000Z' },
    { from: AT, to: '2026-11-27T10:30:00.000Z' },
  ]),
  ...deletable('cut-early', [{ from: '2026-11-20T10:00:00.000Z', to: '2026-11-21T10:00:00.000Z' }]),
  ...deletable('ends-alone', []),
  // The list of its backups is not there.
  '/v1/databases/unbacked': unbacked,
  '/v1/databases/notes/backups': JSON.stringify({
    object: 'list',
    data: [
      { ...backup, done_bytes: 45, total_bytes: 100 },
      { ...backup, id: 'bkp_2', kind: 'nightly', status: 'failed', reason: USED_UP },
    ],
    restorable_from: null,
    log_lost_from: null,
    restorable: [],
    stored_bytes: 0,
  }),
  'POST /v1/databases/notes/backups': '{"id":"bkp_1"}',
  '/v1/databases/notes/url': '{"url":"postgresql://notes:secret@127.0.0.1:1/notes"}',
  'PATCH /v1/databases/switched': shown,
  'PATCH /v1/databases/notes': JSON.stringify(upgraded('0.6.0', true, AT)),
  'POST /v1/databases': '{"name":"notes-two"}',
}

suite('commands of databases at a service', () => {
  const service = fakeService({ answers: ANSWERS, polls: POLLS })
  const { folder, startIn, ergon, runIn } = service

  test('db backup list tells how far a backup is', async () => {
    const { out } = await ergon('db', 'backup', 'list', 'notes')
    assert.match(out, /bkp_1 .*running, 45 % read/)
    assert.match(out, /^bkp_2 +nightly +failed +2026/m)
  })

  test('db backup list tells why one failed below the table, without the advice of that day', async () => {
    const { told } = await ergon('db', 'backup', 'list', 'notes')
    assert.match(told, /^bkp_2 failed: today's energy budget of this database is used up$/m)
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

  test('db suspend waits until no change is under way', async () => {
    const { code, out, told } = await ergon('db', 'suspend', 'switched')
    assert.equal(code, 0, told)
    assert.match(out, /status +suspended\n/)
  })

  test('a command that waits for a database says that it was deleted meanwhile', async () => {
    for (const words of [
      ['create', 'absent'],
      ['clone', 'notes', 'absent'],
    ]) {
      const { code, told } = await ergon('db', ...words)
      assert.equal(code, 1)
      assert.match(told, /error: absent was deleted meanwhile\n +try: ergon db list/)
    }
  })

  test('db delete of a deleted database asks nothing, and prints the command again', async () => {
    const { code, told } = await ergon('db', 'delete', 'whole')
    assert.equal(code, 0, told)
    assert.match(told, /whole is deleted\. Until .*: ergon db restore db_1 --as whole/)
  })

  test('db show has the times that a database can be restored to, also with --json', async () => {
    const { out } = await ergon('db', 'show', 'shown')
    assert.match(out, /restorable +to each second from 2026-11-27T10:00:00.000Z on/)
    const json = await ergon('db', 'show', 'shown', '--json')
    const { restorable } = JSON.parse(json.out) as { restorable: unknown }
    assert.deepEqual(restorable, [{ from: AT, to: null }])
  })

  test('db show says that a used-up energy budget stops the database, and until when', async () => {
    const { out } = await ergon('db', 'show', 'stopped')
    assert.match(out, /energy budget +49\.5 J of 50 J\/day: used up, no session until 00:00 UTC/)
  })

  test('db energy --queries lists twenty, or --limit, and the others together', async () => {
    const listed = async (...more: string[]) => {
      const { out } = await ergon('db', 'energy', 'notes', '--queries', ...more)
      return [(out.match(/select \d/g) ?? []).length, /(\S+) +\(other statements/.exec(out)?.[1]]
    }
    assert.deepEqual(await listed(), [20, '1.5'])
    assert.deepEqual(await listed('--limit', '29'), [29, '0.6'])
    assert.equal((await ergon('db', 'energy', 'notes', '--queries', '--limit', 'x')).code, 2)
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

  test('db clone --json tells of a clone, whose progress does not fall when its tables are read', async () => {
    const { code, told } = await ergon('db', 'clone', 'notes', 'copied', '--json')
    assert.equal(code, 0, told)
    const what = 'clone copied'
    assert.deepEqual(progressOf(told), [
      { what, done_bytes: 7, total_bytes: 9 },
      { what, done_bytes: 9, total_bytes: 9 },
      { what: `${what}: its tables are read` },
    ])
  })

  test(
    'db restore tells a try that failed on a line of its own, without the bar',
    { skip: existsSync('/usr/bin/script') ? false : 'not installed: script' },
    async () => {
      const command = [process.execPath, PROGRAM, 'db', 'restore', 'notes', '--as', 'again'].join(
        ' ',
      )
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

  /** Places a program of PostgreSQL. */
  const tool = (name: string, lines: string) =>
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\n[ "$1" = --version ] && exec echo "${name} (PostgreSQL) 16.4"\n${lines}\n`,
      { mode: 0o755 },
    )

  /** Programs of PostgreSQL that write, or read, some bytes and then take a while. */
  function placeTools(): Readonly<Record<string, string>> {
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

  test('db import ends with the words of the database that refuses a large dump of another one', async () => {
    const tools = placeTools()
    tool('pg_dump', 'exec head -c 4000000 /dev/zero')
    tool('psql', 'head -c 1000 > /dev/null\necho "the table is there" >&2\nexit 3')
    const { code, told } = await runIn(
      tools,
      'db',
      'import',
      'notes',
      'postgresql://me@127.0.0.1:1/old',
    )
    assert.equal(code, 1, told)
    assert.match(told, /the table is there\n+error: psql ended with status 3\n/)
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
      const command = [process.execPath, PROGRAM, 'db', 'import', 'notes', file].join(' ')
      const words = ['--quiet', '--return', '--command', command, '/dev/null']
      const { code, out } = await outcomeOf(startIn(placeTools(), 'script', ...words))
      assert.equal(code, 0, out)
      assert.match(out, /import into notes .*0\/0 MiB/)
      assert.match(out, /notes has everything of the import/)
    },
  )
})
