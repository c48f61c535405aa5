// Workloads as their owners use them: deployed from an image, called at their hosts, asleep and awake, rolled back.
import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { PROXY_VARIABLES } from '#node/egress.ts'
import { bookFaults } from '../books.ts'
import { BROKEN, REFUSED } from './failures.ts'
import { writeServerImage } from './image.ts'
import { ask, until, type ShownWorkload } from './workload-client.ts'
import { workloadsOfFile, type TestWorkloads } from './workloads-of-file.ts'

let ergon: TestWorkloads['ergon']
let client: TestWorkloads['client']
let image: TestWorkloads['image']
let folder: TestWorkloads['folder']
workloadsOfFile({ ERGON_WORKLOAD_READY_SECONDS: '4' }, (made) => {
  ;({ ergon, client, image, folder } = made)
})

const cellsOf = async ({ id }: Pick<ShownWorkload, 'id'>): Promise<string[]> =>
  (await ergon.control('node.status', {})).cells.flatMap(({ name }) =>
    name.startsWith(id.replace('_', '-')) ? [name] : [],
  )

/** The data of the events of a type about a workload, the oldest first. */
const eventsOf = async (type: string, { id }: Pick<ShownWorkload, 'id'>) =>
  (
    await ergon.sql<{ data: Record<string, unknown> }>(
      `select data - 'account_id' - 'sequence' as data from events where type = $1 and data ->> 'workload_id' = $2 order by sequence`,
      [type, id],
    )
  ).map(({ data }) => data)

test('an image answers at its host with its variables, and its log can be read', async () => {
  const odd = `a 'b' "c" $(id) \`id\`; #`
  const more = {
    env: { VERSION: 'one', ODD: odd },
    secrets: { KEY: 's3cret' },
    routes: ['api.acme.localhost'],
  }
  const made = await client.deploy('api', { image, ...more })
  assert.equal(made.live_version, 1, JSON.stringify(made))
  assert.match(made.url, /^http:\/\/api-acct-[a-z0-9]+\.functions\.localhost:\d+$/)
  assert.deepEqual(await ask(made.url), { status: 200, text: 'hello from version one\n' })
  const { text } = await ask(made.url.replace(/\/\/[^:]+/, '//api.acme.localhost'), '/env')
  const own = ['HOME', 'KEY', 'ODD', 'PATH', 'PORT', 'VERSION']
  const names = [...own, ...Object.keys(PROXY_VARIABLES)].toSorted()
  assert.deepEqual(
    text.split('\n').flatMap((line) => line.split('=')[0] || []),
    names,
  )
  assert.ok(
    text.includes(`ODD=${odd}\n`) && text.includes('KEY=s3cret\n') && text.includes('PORT=8080\n'),
  )
  await until(
    () => client.lines('api'),
    (lines) => lines.includes('stdout: listening on 8080'),
  )
  assert.ok(!JSON.stringify(await client.show('api')).includes('s3cret'))
  assert.deepEqual(await eventsOf('workload.deployed', made), [
    { workload_id: made.id, workload_name: 'api', url: made.url },
  ])
})

test('another version takes over without a failed request, and a rollback brings the first back', async () => {
  const { url } = await client.deploy('roll', { image, env: { VERSION: '1' } })
  const texts = new Set<string>()
  let failed = 0
  const ending = new AbortController()
  const asking = (async () => {
    while (!ending.signal.aborted) {
      const { status, text } = await ask(url)
      if (status === 200) texts.add(text)
      else failed++
    }
  })()
  // A request that the first version answers for longer than the second takes to be ready.
  const slow = ask(url, '/slow')
  await pause(300)
  const made = await client.deploy('roll', { image, env: { VERSION: '2' } })
  assert.equal(made.live_version, 2, JSON.stringify(made))
  assert.deepEqual(await slow, { status: 200, text: 'slow from version 1' })
  await until(
    () => ask(url),
    ({ text }) => text === 'hello from version 2\n',
  )
  const back = await client.api('POST', '/roll/rollback', {})
  assert.equal(back.body.version, 1)
  await until(
    () => client.show('roll'),
    (one) => one.live_version === 1,
  )
  await until(
    () => ask(url),
    ({ text }) => text === 'hello from version 1\n',
  )
  ending.abort()
  await asking
  assert.deepEqual(
    [failed, [...texts].toSorted()],
    [0, ['hello from version 1\n', 'hello from version 2\n']],
  )
  await until(
    () => cellsOf(made),
    (cells) => cells.length === 1,
  )
  const none = await client.api('POST', '/roll/rollback', { version: 99 })
  assert.deepEqual([none.status, none.body.error?.code], [404, 'workload_version_not_found'])
})

test('a version that does not become ready says why, and the live one goes on', async () => {
  const good = { image, env: { VERSION: 'live' }, health: null, command: null, memory: '256MB' }
  const first = await client.deploy('broken', good)
  const { url } = first
  let live = first.live_version
  for (const [what, more, failure] of BROKEN) {
    const made = await client.deploy('broken', {
      image,
      env: {},
      health: null,
      command: null,
      ...more,
    })
    assert.match(String(made.versions[0]?.failure), failure, what)
    assert.equal(made.live_version, live, what)
    assert.equal(made.status, 'deployed', what)
    assert.deepEqual(await ask(url), { status: 200, text: 'hello from version live\n' }, what)
    // After failures in a row an account rests.
    live = (await client.deploy('broken', good)).live_version
  }
  const log = await client.lines('broken')
  assert.ok(
    log.some((line) =>
      line.startsWith('service: Could not start the workload: it ended by exit code 7'),
    ),
  )
})

test('names and paths that are none are refused before anything is done', async () => {
  for (const [wrong, code] of [...REFUSED, [`oci:${folder}/../passwd`, 'image_refused'] as const]) {
    const { status, body } = await client.api('POST', '', { name: 'refused', image: wrong })
    assert.deepEqual([body.error?.code, body.error?.param], [code, 'image'], wrong)
    assert.ok(status === 400 || status === 422, wrong)
  }
  for (const name of ['a;id', '$(id)', '../x', 'A', '-a', 'a-', 'a'.repeat(32)]) {
    const { body } = await client.api('POST', '', { name, image })
    assert.equal(body.error?.param, 'name', name)
  }
  assert.equal((await client.api('GET', '/refused')).status, 404)
})

test('an image that is absent, damaged, or leads out of the folder is told', async () => {
  writeServerImage(join(folder, 'damaged'))
  const blobs = join(folder, 'damaged/blobs/sha256')
  for (const name of readdirSync(blobs)) writeFileSync(join(blobs, name), '{}')
  symlinkSync('/etc', join(folder, 'link'))
  const wrong = [
    [`oci:${folder}/none:v1`, /Could not find the image .*: there is no such file or folder/],
    [`oci:${folder}/server:v2`, /Could not find the image .*: it has the tag "v1"/],
    [`oci:${folder}/damaged:v1`, /manifest is neither|is not sha256/],
    [`oci:${folder}/link:v1`, /operator's folder/],
  ] as const
  for (const [nth, [name, failure]] of wrong.entries()) {
    const made = await client.deploy(`absent-${nth}`, { image: name })
    assert.match(String(made.versions[0]?.failure), failure, name)
    const { status } = await until(
      () => client.show(`absent-${nth}`),
      (one) => one.status === 'failed',
    )
    assert.equal(status, 'failed')
    assert.match((await ask(made.url)).text, /workload_starting/)
  }
})

test('ends again and again are a crash loop, which is told once; another version ends it', async () => {
  const made = await client.deploy('crash', { image, scale: { min: 1 } })
  for (let nth = 0; nth < 3; nth++) {
    await until(
      () => ask(made.url),
      ({ status }) => status === 200,
    )
    await ask(made.url, '/exit')
  }
  await until(
    () => client.show('crash'),
    (one) => one.status === 'crash_loop',
  )
  assert.deepEqual(await eventsOf('workload.crashed', made), [
    {
      workload_id: made.id,
      workload_name: 'crash',
      exit_code: 3,
      last_log_url: `/v1/workloads/${made.id}/logs?lines=100`,
    },
  ])
  const lines = await client.lines('crash')
  assert.ok(
    lines.includes('stderr: a fault') &&
      lines.includes('service: An instance has ended: it ended by exit code 3'),
  )
  await client.api('PATCH', '/crash', { env: { VERSION: 'good' } })
  await until(
    () => client.show('crash'),
    (one) => one.status === 'deployed' && one.live_version === 2,
  )
})

test('memory, processes and lines have limits, and neighbours answer', async () => {
  const { url } = await client.deploy('greedy', { image, memory: '32MB' })
  const { url: neighbour } = await client.deploy('neighbour', { image, env: { VERSION: 'n' } })
  assert.match((await ask(url, '/eat')).text, /workload_crashed|workload_failed/)
  await until(
    () => client.lines('greedy'),
    (lines) => lines.some((line) => line.includes('used up its memory')),
  )
  const forks = await ask(neighbour, '/fork')
  assert.ok(Number(forks.text) < 5000, forks.text)
  assert.deepEqual(await ask(neighbour), { status: 200, text: 'hello from version n\n' })
  await client.deploy('greedy', { image, memory: '64MB' })
  await until(
    () => ask(url, '/log'),
    ({ text }) => text === 'written',
  )
  await until(
    () => client.lines('greedy'),
    (lines) => lines.some((line) => /lines were dropped/.test(line)),
  )
  assert.ok((await client.lines('greedy')).length <= 2000)
})

test('work after the answer is charged', async () => {
  const { url, id } = await client.deploy('after', { image })
  const joules = async () => {
    const answer = await fetch(`${ergon.baseUrl}/v1/workloads/after/energy?since=1h`, {
      headers: { authorization: `Bearer ${ergon.token}` },
    })
    return ((await answer.json()) as { energy_j: number }).energy_j
  }
  assert.deepEqual((await ask(url, '/work')).text, 'answered')
  await until(
    () => client.lines('after'),
    (lines) => lines.includes('stdout: worked'),
  )
  await client.api('POST', '/after/suspend', {})
  // A second of a core.
  const used = await until(joules, (figure) => figure > 1)
  const [charged] = await ergon.sql<{ nj: string }>(
    "select sum(energy_nj)::text as nj from charges where resource = $1 and operation = 'workload.standing'",
    [id],
  )
  assert.equal(used, Number(charged?.nj) / 1e9)
})

test('a suspended workload answers 503, and is resumed', async () => {
  const made = await client.deploy('rest', { image, scale: { min: 1 }, env: { VERSION: 'r' } })
  await until(
    () => cellsOf(made),
    (cells) => cells.length === 1,
  )
  await client.api('POST', '/rest/suspend', {})
  await until(
    () => client.show('rest'),
    ({ status }) => status === 'suspended',
  )
  assert.deepEqual(await cellsOf(made), [])
  assert.match((await ask(made.url)).text, /workload_suspended/)
  assert.deepEqual(await eventsOf('workload.suspended', made), [
    { workload_id: made.id, workload_name: 'rest', reason: 'manual' },
  ])
  await client.api('POST', '/rest/resume', {})
  await until(
    () => ask(made.url),
    ({ status }) => status === 200,
  )
  const { body } = await client.api('POST', '/rest/scale', { min: 0 })
  assert.equal(body.id, made.id)
  assert.deepEqual(await eventsOf('workload.scaled', made), [
    { workload_id: made.id, workload_name: 'rest', min: 0, max: 1, instances: 1 },
  ])
})

test('a used budget suspends a workload, and a raise resumes it', async () => {
  const burn = ['/bin/sh', '-c', '/usr/bin/perl /app/server.pl & while :; do :; done']
  const made = await client.deploy('burner', {
    image,
    command: burn,
    scale: { min: 1 },
    energy_budget: '10 J/day',
  })
  // The end of the change that deployed it may come after the suspension.
  await until(
    () => client.show('burner'),
    ({ status, reason }) =>
      status === 'suspended' && /energy budget is used up/.test(String(reason)),
  )
  assert.match((await ask(made.url)).text, /workload_budget_exhausted/)
  assert.deepEqual(await eventsOf('workload.suspended', made), [
    { workload_id: made.id, workload_name: 'burner', reason: 'energy_budget' },
  ])
  // The last window is charged after the suspension. A pull whose window is read after the budget has ended is the operator's.
  const version = `${made.id.replace('_', '-')}-1`
  const charged = await until(
    () =>
      ergon.sql<{ cell: string; energy: string; used: string }>(
        `select convert_from(bytes, 'UTF8')::jsonb ->> 'cell' as cell, sum(energy_nj)::text as energy,
           budget_used_nj($1)::text as used
         from charges where resource = $1 group by 1 order by 1`,
        [made.id],
      ),
    ({ length }) => length >= 1,
  )
  const cells = charged.map(({ cell }) => cell)
  assert.equal(cells[0], `${version}-1`)
  for (const cell of cells.slice(1)) assert.equal(cell, `${version}-pull`)
  const used = charged[0]?.used ?? ''
  // Less is left than a start needs.
  assert.ok(BigInt(used) <= 10_000_000_000n && BigInt(used) > 9_000_000_000n, used)
  const sum = charged.reduce((total, { energy }) => total + BigInt(energy), 0n)
  assert.equal(sum, BigInt(used))
  await client.api('PATCH', '/burner', { energy_budget: '1 MJ/day' })
  await until(
    () => client.show('burner'),
    ({ status }) => status === 'deployed',
  )
  await client.api('DELETE', '/burner')
})

test('the command line shows and changes a workload', async () => {
  const made = await client.deploy('cli', { image, env: { VERSION: 'one' } })
  await client.deploy('cli', { image, env: { VERSION: 'two' } })
  const cli = async (...words: string[]) => {
    const { code, stdout, stderr } = await ergon.cli(...words)
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
    return stdout
  }
  const json = async (...words: string[]) => JSON.parse(await cli(...words, '--json')) as unknown
  assert.match(await cli('workloads', 'list'), /^cli +deployed +1\/1 +2 /m)
  assert.match(await cli('workloads', 'show', 'cli'), /^version +2 answers, 2 is wanted$/m)
  await until(
    () => cli('logs', 'cli', '--lines', '50'),
    (lines) => /v2.1 stdout +listening on 8080$/m.test(lines),
  )
  assert.match(await cli('energy', 'cli', '--since', '1h'), /^all +[\d.]+ +[\d.]+ +[\d.]+$/m)
  assert.equal(((await json('energy', 'cli')) as { object: string }).object, 'workload.energy')
  assert.equal((await cli('rollback', 'cli')).trim(), made.url)
  assert.match((await ask(made.url)).text, /version one/)
  const scaled = (await json('scale', 'cli', '--min', '1', '--max', '1')) as { scale: object }
  assert.deepEqual(scaled.scale, { min: 1, max: 1, target_requests: 50 })
  await cli('suspend', 'cli')
  await until(
    () => client.show('cli'),
    ({ status }) => status === 'suspended',
  )
  assert.equal((await cli('resume', 'cli')).trim(), made.url)
  const refused = await ergon.cli('delete', 'cli')
  assert.match(refused.stderr, /ergon delete cli --yes/)
  await cli('delete', 'cli', '--force')
  assert.equal((await client.api('GET', '/cli')).status, 404)
})

test('a deleted workload leaves nothing, and its hosts are free', async () => {
  const host = 'gone.acme.localhost'
  const made = await client.deploy('gone', { image, routes: [host], scale: { min: 1 } })
  const taken = await client.api('POST', '', { name: 'other', image, routes: [host] })
  assert.deepEqual([taken.status, taken.body.error?.code], [409, 'host_taken'])
  const own = await client.api('POST', '', { name: 'other', image, routes: ['portal.localhost'] })
  assert.equal(own.body.error?.code, 'host_taken')
  assert.equal((await client.api('DELETE', '/gone')).status, 200)
  await until(
    () => cellsOf(made),
    (cells) => cells.length === 0,
  )
  assert.equal((await ask(made.url)).status, 404)
  assert.equal((await client.api('GET', '/gone')).body.error?.code, 'workload_not_found')
  const again = await client.deploy('other', { image, routes: [host] })
  assert.equal(again.live_version, 1)
  assert.deepEqual(await bookFaults(ergon), [])
})
