import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

import { cachedInstall, startTestServer, whyNoServer } from './testing.ts'

const skip = whyNoServer()
const kill = async (child: ChildProcess) => {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

test('a server of the managed rung', { skip }, async (t) => {
  await using server = await startTestServer(await cachedInstall())
  const value = async (sql: string, as = {}) => {
    const done = await server.psql(sql, as)
    assert.equal(done.code, 0, done.stderr)
    return done.stdout.trim()
  }

  await t.test('keeps data safe: checksums, fsync, no TCP, SCRAM only', async () => {
    assert.equal(await value('show data_checksums'), 'on')
    assert.equal(await value('show fsync'), 'on')
    assert.equal(await value('show synchronous_commit'), 'on')
    assert.equal(await value('show listen_addresses'), '')
    assert.equal(await value('select datcollate from pg_database where oid = 1'), 'C')
    const methods = 'select distinct type || auth_method from pg_hba_file_rules'
    assert.equal(await value(methods), 'localscram-sha-256')
  })

  await t.test('refuses a wrong password', async () => {
    const done = await server.psql('select 1', { password: 'wrong' })
    assert.match(done.stderr, /password authentication failed/)
  })

  await t.test(
    'lets a plain role with CREATE make the extension vector and an HNSW index',
    async () => {
      await value("create role guest login password 'guest'")
      await value('create database shop')
      await value('grant create, connect on database shop to guest')
      const guest = { user: 'guest', password: 'guest', database: 'shop' }
      await value('create schema guest; create extension vector schema guest', guest)
      await value(
        `create table guest.items (id int primary key, v guest.vector(3));
       insert into guest.items select i, array[i, i % 7, 1]::real[]::guest.vector
         from generate_series(1, 500) i;
       create index on guest.items using hnsw (v guest.vector_l2_ops)`,
        guest,
      )
      const nearest = "from guest.items order by v operator(guest.<->) '[250,5,1]' limit 1"
      const set = 'set search_path = guest, public; set enable_seqscan = off;'
      assert.equal(await value(`${set} select id ${nearest}`, guest), '250')
      assert.match(
        await value(`${set} explain select id ${nearest}`, guest),
        /Index Scan using \w+_v_idx/,
      )
    },
  )

  await t.test('keeps acknowledged rows over kill -9 and starts again by itself', async () => {
    await value('create table kept (i int)')
    for (const i of [1, 2, 3]) await value(`insert into kept values (${i})`)
    await kill(server.child)
    server.restart()
    await server.ready()
    assert.equal(await value('select count(*) from kept'), '3')
  })

  await t.test('starts although its pid file names a process that lives', async () => {
    // Likely in a new pid namespace: another process now has the number of the dead server.
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore', ...server.owner })
    try {
      await kill(server.child)
      const pidFile = join(server.folder, 'data', 'postmaster.pid')
      const lines = readFileSync(pidFile, 'utf8').split('\n')
      writeFileSync(pidFile, [bystander.pid, ...lines.slice(1)].join('\n'))
      // The planted fault: the server alone, without what cleans up before it, refuses to start.
      const at = server.argv.indexOf(join(server.install.binFolder, 'postgres'))
      const bare = server.spawn(server.argv.slice(at))
      assert.deepEqual(await once(bare, 'exit'), [1, null])
      server.restart()
      await server.ready()
    } finally {
      bystander.kill('SIGKILL')
    }
  })

  await t.test('is never started beside another one on the same files', async () => {
    const impatient = server.argv.map((each, at) => (server.argv[at - 1] === '--wait' ? '0' : each))
    assert.deepEqual(await once(server.spawn(impatient), 'exit'), [1, null])
    assert.equal(await value('select 1'), '1')

    // A backend that outlives its killed server still holds the files.
    const sleeping = server.psql('select pg_sleep(60)')
    const find = "select pid from pg_stat_activity where query ~ '^select pg_sleep'"
    let backend = ''
    while (backend === '') backend = await value(find)
    process.kill(Number(backend), 'SIGSTOP')
    await kill(server.child)
    assert.deepEqual(await once(server.spawn(impatient), 'exit'), [1, null])
    process.kill(Number(backend), 'SIGKILL')
    await sleeping
    server.restart()
    await server.ready()
    assert.equal(await value('select count(*) from kept'), '3')
  })

  await t.test('stops by its signal with a clean shutdown', async () => {
    const ended = once(server.child, 'exit')
    server.child.kill('SIGINT')
    assert.deepEqual(await ended, [0, null])
  })
})
