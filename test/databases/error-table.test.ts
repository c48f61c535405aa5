// The table of errors in docs/guide/databases.md, row by row: each is provoked at a running product by a client, and has
// the SQLSTATE, the words and the hint that the table promises. A row without a case fails, and a code of the source
// without a row.
import assert from 'node:assert/strict'
import { globSync, readFileSync, renameSync } from 'node:fs'
import { connect as connectTcp, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import { UNSERVED } from '#databases/proxy/login-limits.ts'
import { STRANGERS_MAX } from '#databases/proxy/strangers.ts'
import { newPayer } from '../payments/client.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { connectTo, endOf, makeDatabase, until, urlOfRole, withClient } from './driver.ts'
import { asSuperuser, cellOf, createRestoreDriver, idOf, serverPids } from './restore-driver.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Wrong passwords that are answered late: the tenth and each later one by a second more, up to five. */
const WRONG = 40
const PUBLIC = { ERGON_HOST: '0.0.0.0', ERGON_BASE_URL: 'https://api.example.org' }

/** The last message of a session, or a warning. */
type Said = Partial<Readonly<Record<'code' | 'message' | 'hint', string | undefined>>>
type Case = {
  /** The words of each message, in the order in which they are provoked. */
  readonly says: readonly RegExp[]
  /** PostgreSQL's own words, which may have no hint. */
  readonly isOfServer?: true
  /** The message of the proxy, which may be faster than that of the server. */
  readonly orFirst?: RegExp
  readonly provoke: () => Promise<readonly Said[]>
}

let ergon: Ergon
let notes: URL
let small: URL
before(async () => {
  ergon = await startErgon({ env: { ERGON_DB_IDLE_SECONDS: '60' } })
  notes = await makeDatabase(ergon, 'notes')
  small = await makeDatabase(ergon, 'small', '--size', '256MB')
})
after(() => ergon?.stop())

const { done } = createRestoreDriver(() => ergon)

const refusalOf = (work: Promise<unknown>): Promise<Said> =>
  work.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => error as Said,
  )
const loginOf = (given: Partial<pg.ClientConfig>, url = notes) => refusalOf(connectTo(url, given))
const queryOf = (url: URL, text: string) =>
  refusalOf(withClient(url, (client) => client.query(text)))

const open = (localAddress?: string): Socket =>
  connectTcp({
    port: Number(notes.port),
    host: '127.0.0.1',
    ...(localAddress !== undefined && { localAddress }),
  }).on('error', () => undefined)

/** The fields of the error that a connection ends with. */
async function lastOf(socket: Socket): Promise<Said> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const fields = Buffer.concat(chunks).toString().slice(5).split('\0')
  const field = (type: string) => fields.find((text) => text.startsWith(type))?.slice(1) ?? ''
  return { code: field('C'), message: field('M'), hint: field('H') }
}

/** The first warning of a session. */
async function warningOf(url: URL): Promise<Said> {
  const client = new pg.Client({ connectionString: url.href.replace('require', 'no-verify') })
  const said: Said[] = []
  client.on('error', () => undefined).on('notice', (notice) => said.push(notice))
  await client.connect()
  await client.end()
  return said[0] ?? {}
}

const stateOf = (reached: string) =>
  ergon.sql('update resources set actual = $2 where id = $1', [idOf(notes), reached])

async function fillUp(): Promise<Said> {
  await withClient(small, (client) =>
    client.query('create unlogged table filler (id bigint, body text)'),
  )
  const rows = (count: number) =>
    `insert into filler select n, repeat(md5(n::text), 40) from (select generate_series(1, ${count}) n) s`
  const first = await queryOf(small, rows(1_000_000))
  // A fast writer is ended ahead of the limit; slower ones fill what is left.
  await until('it is full', async () => {
    await withClient(small, (client) => client.query(rows(2000))).catch(() => undefined)
    return (JSON.parse(await done('db', 'show', 'small', '--json')) as { full: boolean }).full
  })
  return first
}

/** Uses energy until some is charged, and gives the database a budget of which nearly all is used. */
async function useBudget(): Promise<void> {
  const loop = 'do $$ begin for n in 1..200000000 loop end loop; end $$'
  const charged = async () => {
    await done('db', 'suspend', 'notes')
    await done('db', 'resume', 'notes')
    const [sum] = await ergon.sql<{ nj: string }>(
      'select coalesce(sum(energy_nj), 0)::text as nj from charges where resource = $1',
      [idOf(notes)],
    )
    return Number(sum?.nj) / 1e9
  }
  let used = 0
  // The rest of the budget lasts for the polls of the warning, also on a busy machine. The rest of 10 J did not.
  while (used < 30) {
    await withClient(notes, (client) => client.query(loop))
    used = await charged()
  }
  await done('db', 'budget', 'notes', `${(used / 0.82).toFixed(3)} J/day`)
}

/** A database of an account of its own. */
async function ofPayer() {
  const payer = await newPayer(ergon)
  await ergon.control('funds.add', { account: payer.account, pusd: '1000000000000' })
  await payer.call('POST', '/v1/databases', { name: 'own' })
  const shown = async () => (await payer.call('GET', '/v1/databases/own')).json['status']
  await until('it is there', async () => (await shown()) === 'deployed')
  const url = new URL(String((await payer.call('GET', '/v1/databases/own/url')).json['url']))
  return { url, account: payer.account }
}

/** Their names are the words of the second column. The last ones take more and more away. */
/** Logins that a test opens at once. */
const UNFINISHED = 200

const CASES: Readonly<Record<string, Case>> = {
  'the user or the password is wrong, or the database was deleted': {
    // The same words for both: nobody learns which roles there are.
    says: [/failed for user "u_/, /failed for user "u_nobody"/, /failed for user "postgres"/],
    provoke: async () => [
      await loginOf({ password: 'wrong' }),
      await loginOf({ user: 'u_nobody' }),
      await loginOf({ user: 'postgres', database: 'postgres' }),
    ],
  },
  'another database than that of the user': {
    says: [/database "postgres" does not exist/],
    provoke: async () => [await loginOf({ database: 'postgres' })],
  },
  'a replication connection, another protocol, or an option of the startup message that is no setting':
    {
      says: [/replication connections are not served/, /"-r" is not served/, /protocol 2\.0/],
      provoke: async () => {
        const old = open()
        old.write(Buffer.from('0000000c0002000000000000', 'hex'))
        return [
          await loginOf({ replication: 'database' } as object),
          await loginOf({ options: '-r' }),
          await lastOf(old),
        ]
      },
    },
  'a setting of the startup message that would make logins wait': {
    says: [/set parameter "post_auth_delay"/],
    provoke: async () => [await loginOf({ options: '-c post_auth_delay=5' })],
  },
  'bytes that are no PostgreSQL protocol': {
    says: [/invalid length/],
    provoke: async () => {
      const socket = open()
      socket.write('GET / HTTP/1.1\r\n\r\n')
      return [await lastOf(socket)]
    },
  },
  '45 sessions are open, or logins come too often': {
    says: [/too many clients already/],
    async provoke() {
      const clients: pg.Client[] = []
      try {
        while (clients.length < SESSIONS_MAX) clients.push(await connectTo(notes))
        return [await loginOf({})]
      } finally {
        await Promise.all(clients.map((client) => client.end()))
      }
    },
  },
  'too many wrong passwords came from this address': {
    says: [/too many logins with a wrong password/],
    async provoke() {
      await done('db', 'role', 'create', 'notes', 'guessed')
      const guessed = await urlOfRole(ergon, 'notes', 'guessed')
      guessed.hostname = '127.0.0.1'
      const logins = Array.from({ length: WRONG }, () => loginOf({ password: 'wrong' }, guessed))
      await Promise.all(logins)
      return [await loginOf({}, guessed)]
    },
  },
  'too many connections from this address, or from everywhere, came to no session': {
    says: [/without a session from this address/],
    async provoke() {
      // Code of an account has an address of its own.
      const address = '127.64.9.9'
      // Fewer at once than the logins that may be unfinished.
      const some = () =>
        Promise.all(
          Array.from({ length: UNFINISHED }, () =>
            lastOf(open(address).end('\0\0\0\x04\0\0\0\0')).catch(() => undefined),
          ),
        )
      for (let opened = 0; opened < 3 * UNSERVED.burst; opened += UNFINISHED) {
        const said = (await some()).find((one) => one?.code === '53300')
        if (said !== undefined) return [said]
      }
      return [{}]
    },
  },
  '500 logins are unfinished at once': {
    says: [/too many logins at once/],
    async provoke() {
      const oldest = open()
      const said = lastOf(oldest)
      await new Promise((resolve) => oldest.once('connect', resolve))
      const others = Array.from({ length: STRANGERS_MAX + 1 }, () => open())
      try {
        return [await said]
      } finally {
        for (const socket of others) socket.destroy()
      }
    },
  },
  'a query needs more than 768 MiB of memory, or the table of locks is full': {
    isOfServer: true,
    says: [/out of shared memory/],
    provoke: async () => [
      await queryOf(notes, 'select pg_advisory_lock(n) from generate_series(1, 1000000) n'),
    ],
  },
  'a query writes more than 1 GB of temporary files': {
    isOfServer: true,
    says: [/temporary file size exceeds temp_file_limit/],
    async provoke() {
      // A smaller limit for this role, as a GB takes seconds.
      const set = (text: string) =>
        withClient(notes, async (client) => {
          await client.query('select 1')
          await asSuperuser(ergon, notes, (superuser) =>
            superuser.query(`alter role "${notes.username}" ${text}`),
          )
          const own = 'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1'
          await asSuperuser(ergon, notes, (superuser) => superuser.query(own, [notes.username]))
        }).catch(() => undefined)
      await set('set temp_file_limit = 1000')
      const said = await queryOf(notes, 'select count(*) from generate_series(1, 3000000)')
      await set('reset temp_file_limit')
      return [said]
    },
  },
  "the database is full, a session was about to fill it, or a query's temporary files leave no room":
    {
      says: [/is full|was about to fill/, /the database is full/, /temporary files of the query/],
      async provoke() {
        const first = await fillUp()
        // Each session begins with the warning.
        const warning = await warningOf(small)
        return [
          first,
          warning,
          await queryOf(small, 'select count(*) from generate_series(1, 50000000)'),
        ]
      },
    },
  'a write in a full database': {
    isOfServer: true,
    says: [/read-only transaction/],
    provoke: async () => [await queryOf(small, "insert into filler values (0, '')")],
  },
  'the server ended unexpectedly, as when all queries together need more memory than it has': {
    says: [/ended the session unexpectedly/],
    async provoke() {
      const client = await connectTo(small)
      const ended = endOf(client)
      // One of its processes, as the kernel chooses one.
      process.kill((await serverPids(ergon, small))[1] ?? assert.fail(), 'SIGKILL')
      return [await ended]
    },
  },
  'the first process of the server was killed': {
    isOfServer: true,
    says: [/unexpected postmaster exit/],
    orFirst: /^the server ended the session unexpectedly$/,
    async provoke() {
      await until('it answers again', () =>
        connectTo(small).then(
          (client) => client.end().then(() => true),
          () => false,
        ),
      )
      const client = await connectTo(small)
      const ended = endOf(client)
      await ergon.killCell(cellOf(small))
      return [await ended]
    },
  },
  'the role was deleted': {
    says: [/the role was deleted/],
    async provoke() {
      await done('db', 'role', 'create', 'notes', 'app')
      const app = await urlOfRole(ergon, 'notes', 'app')
      let client: pg.Client | undefined
      await until('it is there', async () => {
        client = await connectTo(app).catch(() => undefined)
        return client !== undefined
      })
      const ended = endOf(client ?? assert.fail())
      await done('db', 'role', 'delete', 'notes', 'app')
      return [await ended]
    },
  },
  'the database is being made or is starting': {
    says: [/being made ready/],
    async provoke() {
      await stateOf('deploying')
      // A role is remembered for a moment.
      let said: Said = {}
      await until('it is refused', async () => {
        said = await connectTo(notes).then(
          (client) => client.end().then(() => ({})),
          (error: unknown) => error as Said,
        )
        return said.code !== undefined
      })
      await stateOf('deployed')
      await until('it answers', () =>
        connectTo(notes).then(
          (client) => client.end().then(() => true),
          () => false,
        ),
      )
      return [said]
    },
  },
  'logins or energy cannot be checked now': {
    says: [/logins cannot be checked now/],
    async provoke() {
      await ergon.sql('alter table database_roles rename to away')
      const said = await loginOf({ user: 'u_unknown' })
      await ergon.sql('alter table away rename to database_roles')
      return [said]
    },
  },
  'four fifths of the energy budget of the day are used; a warning': {
    says: [/four fifths of today's energy budget/],
    async provoke() {
      await useBudget()
      let said: Said = {}
      await until('it is warned of', async () => {
        said = await warningOf(notes)
        return said.code !== undefined
      })
      return [said]
    },
  },
  'the energy budget of the day is used up': {
    says: [/energy budget of this database is used up/],
    async provoke() {
      const client = await connectTo(notes)
      const ended = endOf(client)
      const loop = 'do $$ begin loop end loop; end $$'
      const said = await Promise.race([ended, refusalOf(client.query(loop))])
      await done('db', 'budget', 'notes', 'none')
      return [said]
    },
  },
  'the account cannot pay': {
    says: [/cannot pay for its energy/],
    async provoke() {
      const { url, account } = await ofPayer()
      const client = await connectTo(url)
      const ended = endOf(client)
      const text = "update accounts set depleted_at = now() - interval '61 seconds' where id = $1"
      await ergon.sql(text, [account])
      return [await ended]
    },
  },
  'the operator suspended the account, or the account is being deleted': {
    says: [/operator suspended the account/],
    async provoke() {
      const { url, account } = await ofPayer()
      const client = await connectTo(url)
      const ended = endOf(client)
      await ergon.control('account.suspend', { account, reason: 'a test' })
      return [await ended]
    },
  },
  'the database is suspended': {
    says: [/is suspended/],
    async provoke() {
      await done('db', 'suspend', 'notes')
      return [await loginOf({})]
    },
  },
  'the server of the database does not start': {
    says: [/does not start/],
    async provoke() {
      const file = join(ergon.dataFolder, 'databases', idOf(notes), 'data/global/pg_control')
      renameSync(file, `${file}.away`)
      await ergon.cli('db', 'resume', 'notes')
      let said: Said = {}
      await until('it is no more suspended', async () => {
        said = await loginOf({})
        return !/suspended/.test(said.message ?? '')
      })
      return [said]
    },
  },
  'the service stops': {
    says: [/administrator command/],
    async provoke() {
      const client = await connectTo(small)
      const ended = endOf(client)
      await ergon.restart(PUBLIC)
      return [await ended]
    },
  },
  'no TLS from another machine': {
    says: [/the connection is not encrypted/],
    async provoke() {
      // An address of this machine that is not on loopback is another machine for the proxy.
      const [own] = Object.values(networkInterfaces())
        .flat()
        .filter((one) => one?.family === 'IPv4' && !one.internal)
      if (own === undefined) return []
      return [await loginOf({ host: own.address, ssl: false, enableChannelBinding: false }, small)]
    },
  },
}

/** The rows of the table of the guide. */
const ROWS =
  readFileSync(join(ROOT, 'docs/guide/databases.md'), 'utf8')
    .split('## Errors that a driver shows')[1]
    ?.split('\n## ')[0]
    ?.split('\n')
    .filter((line) => /^\| \w{5} \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, code = '', when = '', advice = '']) => ({ code, when, advice })) ?? []

test('each row of the table of errors has a case, and each case a row', () => {
  assert.deepEqual(ROWS.map(({ when }) => when).toSorted(), Object.keys(CASES).toSorted())
})

test('each SQLSTATE that the source sends to clients is in the table of errors', () => {
  const files = globSync('src/{databases,wire}/**/*.ts', { cwd: ROOT })
  const sent = files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(
        /(?:\bcode: |WRONG_PASSWORD = )'(\w{5})'/g,
      ),
    ])
    .map(([, code]) => code)
  assert.ok(sent.length > 20)
  const told = new Set(ROWS.map(({ code }) => code))
  assert.deepEqual(
    [...new Set(sent)].filter((code) => !told.has(code ?? '')),
    [],
  )
})

for (const [when, { says, isOfServer, orFirst, provoke }] of Object.entries(CASES))
  test(`a client reads why and what to do: ${when}`, async (t) => {
    const { code, advice } = ROWS.find((row) => row.when === when) ?? assert.fail('it has no row')
    const said = await provoke()
    if (said.length === 0) return t.skip('this machine has no address but loopback')
    assert.equal(said.length, says.length)
    for (const [nth, { code: own, message = '', hint = '' }] of said.entries()) {
      if (own === '57P02' && orFirst?.test(message) === true) continue
      assert.deepEqual([own, says[nth]?.test(message)], [code, true], `${own} ${message}`)
      if (isOfServer === true) continue
      assert.notEqual(hint, '', message)
      // The commands and settings of the advice are in the hint.
      for (const [, words = ''] of advice.matchAll(/`([^`]+)`/g))
        assert.ok(hint.includes(words), `${hint}: ${words}`)
    }
  })
