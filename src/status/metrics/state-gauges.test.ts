import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gauge, Registry } from 'prom-client'
import { addStateGauges, type GaugeQueries } from './state-gauges.ts'

const away = () => Promise.reject(new TypeError('the state is away'))
const labels = { cell: 'model-a', payer: 'caller', model: 'a' }
const GPU = {
  ageS: 1,
  watts: 340,
  idleWatts: 100,
  method: 'nvml',
  bandRatio: 0.03,
  cells: [{ labels, watts: 240 }],
}
const samples = async (asks: GaugeQueries): Promise<string[]> => {
  const registry = new Registry()
  addStateGauges(registry, Gauge, asks)
  const page = await registry.metrics()
  return page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

test('addStateGauges() leaves out each figure that the state does not give', async () => {
  assert.deepEqual(
    await samples({ books: away, power: away, gpuPower: away, tasks: away, webhooks: away }),
    [],
  )
  const task = { name: 'a', runs: 1, failures: 0, deaths: 0, spent_ms: 10 }
  const some = await samples({
    books: away,
    power: away,
    gpuPower: () => Promise.resolve(GPU),
    tasks: () => Promise.resolve([task]),
    webhooks: () => Promise.resolve({ waiting: 2, ageS: 0.5 }),
  })
  assert.ok(some.includes('ergon_task_runs{task="a"} 1'))
  assert.ok(some.includes('ergon_gpu_power_watts{method="nvml"} 340'))
  assert.ok(some.includes('ergon_gpu_idle_power_watts 100'))
  assert.ok(
    some.includes('ergon_gpu_cell_power_watts{cell="model-a",payer="caller",model="a"} 240'),
  )
  assert.deepEqual(some.slice(-2), ['ergon_webhooks_due 2', 'ergon_webhooks_due_age_seconds 0.5'])
})
