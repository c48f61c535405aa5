// Instances of a workload that share a small energy budget, on a product: they use all of it but less than a start needs,
// are never billed above it, and burn little beyond it. Its events come at its end, once.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ask, until, type ShownWorkload } from './workload-client.ts'
import { workloadsOfFile, type TestWorkloads } from './workloads-of-file.ts'

const NJ_PER_J = 1_000_000_000
const INSTANCES = 3
const WARNED_PART = 0.8
/** Held for the start of an instance: a budget of which less is left is used up. */
const START_J = 1
/** Beyond a budget the machine may spend so much, which is the operator's. */
const LOSS_MAX_J = 1
/** Three instances start in 5 s where nothing else runs. */
const STARTED_S = 20
/** Longer than two windows. */
const REST_MS = 2500
/** 60 J are some seconds of two processors, which others may want too. */
const USED_UP_MAX_MS = 600_000

let ergon: TestWorkloads['ergon']
let client: TestWorkloads['client']
let image: TestWorkloads['image']
workloadsOfFile({}, (made) => {
  ;({ ergon, client, image } = made)
})

/** The events of its budget and its suspensions, in order, with the energy that was charged then. */
async function eventsOf({ id }: Pick<ShownWorkload, 'id'>) {
  const rows = await ergon.sql<{ type: string; used: string | null }>(
    `select type, data ->> 'used_nj' as used from events where $1 in (data ->> 'resource_id', data ->> 'workload_id')
       and type in ('energy_budget.warning', 'energy_budget.exceeded', 'workload.suspended') order by sequence`,
    [id],
  )
  return rows.map(({ type, used }) => ({ type, usedJ: Number(used) / NJ_PER_J }))
}

/** Its owner is warned at four fifths, and told that it is used up where less is left than a start needs. */
async function tellsAtItsEnd(t: TestContext, budgetJ: number, made: ShownWorkload) {
  const events = await eventsOf(made)
  t.diagnostic(JSON.stringify(events))
  assert.deepEqual(
    events.map(({ type }) => type),
    ['energy_budget.warning', 'energy_budget.exceeded', 'workload.suspended'],
  )
  const [warned, exceeded] = events.map(({ usedJ }) => usedJ)
  assert.ok((warned ?? 0) >= budgetJ * WARNED_PART, `warned at ${warned} J`)
  assert.ok((exceeded ?? 0) > budgetJ - START_J, `exceeded at ${exceeded} J`)
}

/** The energy of one workload: the shares of its cells in the windows, and its charges. */
async function joules({ id }: Pick<ShownWorkload, 'id'>) {
  const [row] = await ergon.sql<{ burnt: string; billed: string; instances: string }>(
    `with shares as (
       select s ->> 'name' as cell, (s ->> 'dynamic_nj')::numeric + (s ->> 'idle_nj')::numeric as nj
       from windows, jsonb_array_elements(convert_from(bytes, 'UTF8')::jsonb -> 'shares') s
       where s ->> 'name' like $1)
     select (select coalesce(sum(nj), 0) from shares)::text as burnt,
       (select count(distinct cell) from shares where cell !~ '-pull$')::text as instances,
       (select coalesce(sum(energy_nj), 0) from charges where resource = $2)::text as billed`,
    [`${id.replace('_', '-')}-%`, id],
  )
  const { burnt, billed, instances } = row ?? {}
  return {
    burnt: Number(burnt) / NJ_PER_J,
    billed: Number(billed) / NJ_PER_J,
    instances: Number(instances),
  }
}

/** When the figures have not changed for longer than a window. */
async function settled(made: ShownWorkload) {
  await until(
    () => client.show(made.name),
    ({ status }) => status === 'suspended',
    USED_UP_MAX_MS,
  )
  let before = ''
  return await until(
    async () => {
      const now = await joules(made)
      const isStill = JSON.stringify(now) === before
      before = JSON.stringify(now)
      if (!isStill) await pause(REST_MS)
      return { ...now, isStill }
    },
    ({ isStill, billed }) => isStill && billed > 0,
  )
}

async function usesUp(t: TestContext, budgetJ: number, made: ShownWorkload): Promise<void> {
  const { burnt, billed, instances } = await settled(made)
  t.diagnostic(`billed ${billed} J, burnt ${burnt} J of ${budgetJ} J`)
  await client.api('DELETE', `/${made.name}`)
  await tellsAtItsEnd(t, budgetJ, made)
  assert.equal(instances, INSTANCES)
  assert.ok(billed <= budgetJ, `${billed} J billed`)
  assert.ok(burnt <= budgetJ + Math.max(LOSS_MAX_J, budgetJ / 1000), `${burnt} J burnt`)
  assert.ok(billed > budgetJ - START_J, `only ${billed} J billed`)
}

const make = (name: string, budgetJ: number, env: object) =>
  client.deploy(name, {
    image,
    env,
    memory: '64MB',
    scale: { min: INSTANCES, max: INSTANCES },
    energy_budget: `${budgetJ} J/day`,
  })

/** Some 20 s of CPU. */
const skip = process.env['ERGON_LONG'] !== '1' && 'the long form'
for (const budgetJ of [15, 60])
  test(`three instances that are busy use up ${budgetJ} J`, { skip }, async (t) => {
    const startedS = Math.ceil(Date.now() / 1000) + STARTED_S
    await usesUp(t, budgetJ, await make(`busy-${budgetJ}`, budgetJ, { SPIN_AT: String(startedS) }))
  })

test('one busy instance beside two calm ones uses up 15 J', async (t) => {
  const made = await make('uneven', 15, {})
  await until(
    () => client.show('uneven'),
    ({ instances }) => instances === INSTANCES,
  )
  assert.equal((await ask(made.url, '/spin')).text, 'it spins')
  await usesUp(t, 15, made)
})
