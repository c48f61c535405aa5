// Functions that run for new objects and at times: at least once, again after failures, and never in a storm.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { functionClient, until } from './function-client.ts'

product(PLAIN)
const { api, deploy, show, textAt, logsOf } = functionClient(sharedErgon)

/** A function that keeps the events that it got, and tells callers. */
const KEEPER = `const seen = []
  export default async (request) => {
    const event = request.headers.get('x-svc-event')
    if (event === null) return Response.json(seen)
    seen.push({ event, ...await request.json() })
    return new Response()
  }`

type Seen = Readonly<Record<string, string>> & { readonly event: string }
const seenBy = async (name: string): Promise<readonly Seen[]> =>
  JSON.parse((await textAt(`/${name}`))[1]) as Seen[]

async function makeBucket(name: string): Promise<void> {
  const made = await sharedErgon().cli('storage', 'mb', `s3://${name}`)
  assert.equal(made.code, 0, made.stderr)
}

async function put(bucket: string, key: string): Promise<void> {
  const { url } = (await (
    await fetch(`${sharedErgon().baseUrl}/v1/storage/presigned`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${sharedErgon().token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ bucket, key, method: 'PUT' }),
    })
  ).json()) as { url: string }
  assert.equal((await fetch(url, { method: 'PUT', body: `the body of ${key}` })).status, 200)
}

test('a new object runs the function, with an address that reads the object', async () => {
  await makeBucket('runs-photos')
  const missing = await api('POST', '', {
    name: 'follower',
    file: 'index.mjs',
    source: KEEPER,
    on: ['bucket/runs-photso/object-created'],
  })
  assert.equal(missing.body.title, 'function_bucket_not_found')
  assert.match(JSON.stringify(missing.body), /no \\"runs-photso\\"; did you mean \\"runs-photos\\"/)
  await deploy('follower', KEEPER, { on: ['bucket/runs-photos/object-created'] })
  await put('runs-photos', 'a b/ä.jpg')
  const [seen] = await until(
    () => seenBy('follower'),
    ({ length }) => length > 0,
  )
  assert.deepEqual(
    [seen?.event, seen?.['key'], seen?.['bucket']],
    ['bucket.object-created', 'a b/ä.jpg', 'runs-photos'],
  )
  const body = await fetch(String(seen?.['presigned_url']))
  assert.equal(await body.text(), 'the body of a b/ä.jpg')
  // The handler has told what it saw, and its run ends a moment later.
  const { on, runs_failed: failed } = await until(
    () => show('follower'),
    ({ runs_waiting: waiting }) => waiting === 0,
  )
  assert.deepEqual([on, failed], [['bucket/runs-photos/object-created'], 0])
  // Callers cannot send what the service sends.
  const forged = { 'x-svc-event': 'bucket.object-created', 'x-ergon-event': 'schedule' }
  await textAt('/follower', { method: 'POST', headers: forged, body: '{}' })
  assert.equal((await seenBy('follower')).length, 1)
  // No trigger, no run.
  await deploy('follower', KEEPER, { on: [] })
  await put('runs-photos', 'later')
  assert.deepEqual(await seenBy('follower'), [])
  assert.equal((await show('follower')).runs_waiting, 0)
})

test('a Lambda handler gets the object as its event', async () => {
  await makeBucket('runs-lambda')
  const { concurrency } = await deploy(
    'lambda-follower',
    'export const handler = async (event) => console.log(JSON.stringify(event))',
    { on: ['bucket/runs-lambda/object-created'] },
  )
  assert.equal(concurrency, 1)
  await put('runs-lambda', 'one')
  const log = await until(
    () => logsOf('lambda-follower'),
    (text) => text.includes('"key":"one"'),
  )
  assert.match(log, /info  req_\w+ \{.*"bucket":"runs-lambda",.*"presigned_url":"http/)
})

test('runs that fail are tried again, listed once they are dead, and replayed', async () => {
  await makeBucket('runs-broken')
  const broken = "export default () => { throw new Error('not today') }"
  const { id } = await deploy('broken', broken, { on: ['bucket/runs-broken/object-created'] })
  await put('runs-broken', 'one')
  const { sql, cli } = sharedErgon()
  const tried = (attempts: number) =>
    until(
      async () => (await sql('select attempts from function_runs where function = $1', [id]))[0],
      (row) => Number(row?.['attempts']) === attempts,
    )
  await tried(1)
  await until(
    () => logsOf('broken'),
    (text) =>
      /req_\w+ The run for bucket\.object-created failed: its code failed; it is tried again/.test(
        text,
      ),
  )
  assert.match(
    (await cli('fn', 'failures', 'broken')).stdout,
    /^\d+ \S+ bucket\.object-created runs-broken\/one: its code failed \(req_\w+\), again at \S+\n$/,
  )
  await sql('update function_runs set attempts = 5, next_at = now() where function = $1', [id])
  await sql('update functions set rest_until = null where id = $1', [id])
  await sql("select pg_notify('ergon_followed', '')")
  await tried(6)
  assert.equal((await show('broken')).runs_failed, 1)
  const listed = await cli('fn', 'failures', 'broken')
  assert.match(
    listed.stdout,
    /^\d+ \S+ bucket\.object-created runs-broken\/one: its code failed \(req_\w+\)$/m,
  )
  const none = await cli('fn', 'replay', 'broken', '--id', '1234567')
  assert.match(none.stderr, /function_run_not_found|Could not find a failed run/)
  await deploy('broken', KEEPER)
  const replayed = await cli('fn', 'replay', 'broken')
  assert.match(replayed.stderr, /1 run is due again/)
  await until(
    () => seenBy('broken'),
    ({ length }) => length === 1,
  )
})

test('dead runs are forgotten: one that is named, or all; runs that wait stay', async () => {
  const { sql, cli } = sharedErgon()
  const { id } = await deploy('tired', KEEPER)
  const made = await sql(
    `insert into function_runs (function, event, data, next_at, attempts, created_at)
     select $1, 'schedule', jsonb_build_object('scheduled_at', n::text), case when n = 4 then now() + interval '1 hour' end, 6, now()
     from generate_series(1, 4) n returning id::text`,
    [id],
  )
  const [first = '', , , waits = ''] = made.map((row) => String(row['id']))
  const discard = (...words: string[]) => cli('fn', 'discard', 'tired', ...words)
  assert.match((await discard()).stderr, /give --id or --all/)
  assert.match((await discard('--id', waits)).stderr, /Could not find a failed run/)
  assert.equal((await show('tired')).runs_failed, 3)
  assert.match((await discard('--id', first)).stderr, /1 run is forgotten/)
  assert.match((await discard('--id', first)).stderr, /Could not find a failed run/)
  assert.match((await discard('--all')).stderr, /2 runs are forgotten/)
  const { runs_failed: failed, runs_waiting: waiting } = await show('tired')
  assert.deepEqual([failed, waiting], [0, 1])
  const acts = await sql(
    "select details::text from audit_entries where action = 'function.discard' and target = $1",
    [id],
  )
  assert.deepEqual(acts.map(({ details }) => JSON.parse(String(details)) as unknown).toSorted(), [
    { id: first },
    { all: true },
  ])
})

test('a suspended function runs for its objects once it is resumed', async () => {
  await makeBucket('runs-held')
  await deploy('held', KEEPER, { on: ['bucket/runs-held/object-created'] })
  await api('PATCH', '/held', { suspended: true })
  await until(
    () => show('held'),
    ({ status }) => status === 'suspended',
  )
  await put('runs-held', 'one')
  await until(
    () => show('held'),
    ({ runs_waiting: waiting }) => waiting === 1,
  )
  await api('PATCH', '/held', { suspended: false })
  await until(
    () => seenBy('held').catch(() => []),
    ({ length }) => length === 1,
  )
})

test('a run that a suspension cuts off loses no attempt, and is done once it is resumed', async () => {
  await makeBucket('runs-cut')
  const slow = (ms: number) => `let began = 0
    export default async (request) => {
      if (request.headers.get('x-svc-event') === null) return Response.json(began)
      began++
      await new Promise((done) => setTimeout(done, ${ms}))
      return new Response()
    }`
  const { id } = await deploy('cut', slow(25_000), { on: ['bucket/runs-cut/object-created'] })
  await put('runs-cut', 'one')
  await until(
    () => textAt('/cut'),
    ([, began]) => began === '1',
  )
  await api('PATCH', '/cut', { suspended: true })
  const { sql } = sharedErgon()
  const runOf = async () =>
    (await sql('select attempts, error from function_runs where function = $1', [id]))[0]
  const cut = await until(runOf, (run) => run?.['error'] !== null)
  assert.deepEqual(cut, { attempts: 0, error: 'it may not run now' })
  await api('PATCH', '/cut', { suspended: false })
  await deploy('cut', slow(1))
  await sql('update function_runs set next_at = now() where function = $1', [id])
  await sql('update functions set rest_until = null where id = $1', [id])
  await sql("select pg_notify('ergon_followed', '')")
  await until(runOf, (run) => run === undefined)
})

test('a schedule runs the function once for the times that passed', async () => {
  const { id } = await deploy('clock', KEEPER, { schedule: '* * * * *' })
  assert.equal((await show('clock')).schedule, '* * * * *')
  const { sql, cli } = sharedErgon()
  await sql(
    "update functions set scheduled_to = scheduled_to - interval '10 minutes' where id = $1",
    [id],
  )
  await sql("select pg_notify('ergon_followed', '')")
  const seen = await until(
    () => seenBy('clock'),
    ({ length }) => length > 0,
  )
  // A minute may have begun meanwhile.
  assert.ok(seen.length <= 2)
  assert.equal(seen[0]?.event, 'schedule')
  assert.match((await cli('fn', 'show', 'clock')).stdout, /^schedule +\* \* \* \* \* \(UTC\)$/m)
  await api('POST', '', { name: 'clock', file: 'index.mjs', source: KEEPER, schedule: null })
  await until(
    () => show('clock'),
    ({ schedule }) => schedule === null,
  )
})

test('so many requests run at once as the function takes', async () => {
  const source = `let now = 0, most = 0
    export default async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 50))
      now--
      return new Response(String(most))
    }`
  const { concurrency } = await deploy('narrow', source, { concurrency: 2 })
  assert.equal(concurrency, 2)
  const answers = await Promise.all(Array.from({ length: 8 }, () => textAt('/narrow')))
  assert.deepEqual([...new Set(answers.map(([, text]) => text))].toSorted().at(-1), '2')
})
