import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { cachedInstall, startTestServer, whyNoServer, type TestServer } from '#postgres/testing.ts'
import { holdSessions } from './hold-sessions.ts'

const skip = whyNoServer()

let server: TestServer
before(async () => {
  if (skip === false) server = await startTestServer(await cachedInstall())
})
after(() => server?.[Symbol.asyncDispose]())

async function connect(more: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({
    host: server.socketFolder,
    database: 'postgres',
    ...server.superuser,
    ...more,
  })
  await client.connect()
  return client
}

test(
  'a session stands still while it is held, the superuser does not, and then it goes on',
  { skip },
  async () => {
    const superuser = await connect()
    await superuser.query("create role customer login password 'secret'")
    const customer = await connect({ user: 'customer', password: 'secret' })
    try {
      const { rows } = await superuser.query<{ pid: number }>('select pid from pg_stat_activity')
      const cell = { processes: () => rows.map(({ pid }) => pid) }
      let answered = 0
      const ask = () => customer.query('select 1').then(() => void answered++)
      {
        using _ = holdSessions(cell)
        void ask()
        await superuser.query('select 1')
        await pause(50)
        assert.equal(answered, 0)
      }
      await ask()
      assert.equal(answered, 2)
      const forgotten = holdSessions(cell)
      await ask()
      assert.equal(answered, 3, 'it goes on by itself')
      forgotten[Symbol.dispose]()
    } finally {
      await customer.end()
      await superuser.end()
    }
  },
)

test('a session that cannot be signalled leaves no other one stopped', async (context) => {
  const title = 'postgres: main customer app [local] idle'
  const sessions = [1, 2].map(() => spawn('/bin/sleep', ['60'], { argv0: title, stdio: 'ignore' }))
  try {
    const pids = sessions.map(({ pid = 0 }) => pid)
    const [first = 0, second = 0] = pids
    const stateOf = (pid: number) =>
      / ([A-Z]) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
    while (pids.some((pid) => !readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(title)))
      await pause(5)
    const refused = { pid: 0, signal: '' }
    const kill = process.kill.bind(process)
    context.mock.method(process, 'kill', (pid: number, signal: NodeJS.Signals) => {
      if (pid === refused.pid && signal === refused.signal)
        throw Object.assign(new Error('not permitted'), { code: 'EPERM' })
      return kill(pid, signal)
    })
    const settled = async (wanted: readonly string[]) => {
      for (let nth = 0; nth < 100 && pids.map(stateOf).join() !== wanted.join(); nth++)
        await pause(5)
      assert.deepEqual(pids.map(stateOf), wanted)
    }
    const cell = { processes: () => pids }
    Object.assign(refused, { pid: second, signal: 'SIGSTOP' })
    assert.throws(() => holdSessions(cell), { code: 'EPERM' })
    await settled(['S', 'S'])
    Object.assign(refused, { pid: first, signal: 'SIGCONT' })
    holdSessions(cell)[Symbol.dispose]()
    await settled(['T', 'S'])
  } finally {
    for (const session of sessions) session.kill('SIGKILL')
  }
})
