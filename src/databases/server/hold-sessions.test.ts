import assert from 'node:assert/strict'
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
