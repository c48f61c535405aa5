// Workloads with several instances: they come and go with the requests, replace each other, end one by one and together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bookFaults } from '../books.ts'
import { ask, until, type ShownWorkload } from './workload-client.ts'
import { workloadsOfFile, type TestWorkloads } from './workloads-of-file.ts'

let ergon: TestWorkloads['ergon']
let client: TestWorkloads['client']
let image: TestWorkloads['image']
workloadsOfFile({ ERGON_WORKLOAD_CALM_SECONDS: '3', ERGON_WORKLOAD_MEMORY_MB: '1000' }, (made) => {
  ;({ ergon, client, image } = made)
})

const MEMORY = '64MB'
/** Its rule is that of src/workloads/crashes.test.ts. */
const skip = process.env['ERGON_LONG'] !== '1' && 'the long form'
type Named = Pick<ShownWorkload, 'id'>

const cellsOf = async ({ id }: Named, version: number): Promise<readonly string[]> =>
  (await ergon.control('node.status', {})).cells.flatMap(({ name, state }) =>
    state === 'ready' && name.startsWith(`${id.replace('_', '-')}-${version}-`) ? [name] : [],
  )

const untilCells = (of: Named, version: number, count: number) =>
  until(
    () => cellsOf(of, version),
    (cells) => cells.length === count,
  )

const countsOf = async ({ id }: Named): Promise<readonly number[]> =>
  (
    await ergon.sql<{ count: number }>(
      `select (data ->> 'instances')::int as count from events
       where type = 'workload.scaled' and data ->> 'workload_id' = $1 order by sequence`,
      [id],
    )
  ).map(({ count }) => count)

/** So many requests at once, until it is stopped; then the answers by their texts, and how many were no 200. */
function load(url: string, count: number) {
  const texts = new Map<string, number>()
  const failed: string[] = []
  let isOver = false
  const loops = Array.from({ length: count }, async () => {
    while (!isOver) {
      const { status, text } = await ask(url, '/nap').catch((error: unknown) => ({
        status: 0,
        text: String(error),
      }))
      if (status === 200) texts.set(text, 1 + (texts.get(text) ?? 0))
      else failed.push(`${status} ${text}`)
    }
  })
  return {
    texts,
    async stop() {
      isOver = true
      await Promise.all(loops)
      return { failed }
    },
  }
}

test('instances follow the requests, from one to three and back, and no request fails', async () => {
  const made = await client.deploy('follow', {
    image,
    memory: MEMORY,
    scale: { max: 3, target_requests: 2 },
    scale_to_zero_after: '10s',
  })
  assert.equal(made.live_version, 1, JSON.stringify(made))
  const calm = load(made.url, 1)
  await untilCells(made, 1, 1)
  const crowd = load(made.url, 6)
  await untilCells(made, 1, 3)
  await until(
    () => countsOf(made),
    (counts) => counts.at(-1) === 3,
  )
  assert.deepEqual((await crowd.stop()).failed, [])
  assert.equal(crowd.texts.size, 3)
  await untilCells(made, 1, 1)
  await until(
    () => countsOf(made),
    (counts) => counts.at(-1) === 1,
  )
  assert.deepEqual((await calm.stop()).failed, [])
  assert.equal((await client.show('follow')).instances, 1)
  // The last one sleeps without an event.
  await untilCells(made, 1, 0)
  assert.equal((await countsOf(made)).at(-1), 1)
})

test('an instance that is killed under load fails no request, and comes back', async () => {
  const made = await client.deploy('killed', {
    image,
    memory: MEMORY,
    scale: { min: 3, max: 3, target_requests: 2 },
  })
  const cells = await untilCells(made, 1, 3)
  const crowd = load(made.url, 6)
  const untilSeen = (count: number) =>
    until(
      async () => crowd.texts.size,
      (size) => size === count,
    )
  await untilSeen(3)
  for (const cell of cells.slice(0, 2)) {
    await ergon.killCell(cell)
    await untilCells(made, 1, 3)
  }
  // Three, and two that came back.
  await untilSeen(5)
  assert.deepEqual((await crowd.stop()).failed, [])
  assert.equal((await client.show('killed')).status, 'deployed')
})

test('another version takes over with as many instances, and no request fails', async () => {
  const made = await client.deploy('roll', {
    image,
    memory: MEMORY,
    scale: { min: 2, max: 3, target_requests: 2 },
  })
  await untilCells(made, 1, 2)
  const crowd = load(made.url, 4)
  const next = await client.deploy('roll', { image, env: { VERSION: '2' } })
  assert.equal(next.live_version, 2)
  await untilCells(made, 1, 0)
  await untilCells(made, 2, 2)
  await until(
    async () => crowd.texts.size,
    (size) => size === 4,
  )
  assert.deepEqual((await crowd.stop()).failed, [])
})

test(
  'the ends of one instance do not make a crash loop of those that serve',
  { skip },
  async () => {
    const made = await client.deploy('loop', {
      image,
      memory: MEMORY,
      scale: { min: 2, max: 2 },
    })
    const [, second = ''] = await untilCells(made, 1, 2)
    for (let nth = 0; nth < 3; nth++) {
      await ergon.killCell(second)
      await untilCells(made, 1, 2)
    }
    assert.equal((await client.show('loop')).status, 'deployed')
    assert.deepEqual(
      await ergon.sql(
        "select 1 from events where type = 'workload.crashed' and data ->> 'workload_id' = $1",
        [made.id],
      ),
      [],
    )
    await client.api('DELETE', '/loop')
  },
)

test('scale changes what runs; the memory of the node is a limit', async () => {
  const made = await client.deploy('hand', { image, memory: MEMORY, scale: { min: 1 } })
  await untilCells(made, 1, 1)
  const { code, stdout } = await ergon.cli('scale', 'hand', '--min', '2', '--max', '4', '--json')
  assert.equal(code, 0)
  assert.deepEqual(JSON.parse(stdout).scale, { min: 2, max: 4, target_requests: 50 })
  await untilCells(made, 1, 2)
  await client.api('POST', '/hand/scale', { min: 0, max: 1 })
  await untilCells(made, 1, 1)
  const large = await client.deploy('large', { image, memory: '2GB' })
  assert.match(String(large.versions[0]?.failure), /may use 2000 MB.*1000 MB/)
  const wide = await client.deploy('wide', { image, memory: '400MB', scale: { min: 3, max: 3 } })
  await until(
    () => client.lines('wide'),
    (lines) =>
      lines.some((line) => /service: Could not start another instance: it needs 400 MB/.test(line)),
  )
  assert.match((await ask(wide.url)).text, /hello/)
  await client.api('DELETE', '/wide')
})

test('a suspension ends all instances, whose energy is one figure', async () => {
  const made = await client.show('killed')
  await client.api('POST', '/killed/suspend', {})
  await untilCells(made, 1, 0)
  assert.match((await ask(made.url)).text, /workload_suspended/)
  const shown = async () => {
    const answer = await fetch(`${ergon.baseUrl}/v1/workloads/killed/energy?since=1h`, {
      headers: { authorization: `Bearer ${ergon.token}` },
    })
    return ((await answer.json()) as { energy_nj: string }).energy_nj
  }
  const charged = () =>
    ergon.sql<{ nj: string }>(
      "select sum(energy_nj)::text as nj from charges where resource = $1 and operation = 'workload.standing'",
      [made.id],
    )
  // The last charges come after the end.
  await until(
    async () => [await shown(), (await charged())[0]?.nj],
    ([one, other]) => one === other && BigInt(one ?? 0) > 0n,
  )
  assert.deepEqual(await bookFaults(ergon), [])
})
