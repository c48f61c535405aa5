// The facts of a node with a card, as a program `nvidia-smi` tells it.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '#base/log.ts'
import { readSettings } from '#config/config.ts'
import { nodeFacts } from '#contract/operator/operator.ts'
import { cardLine } from '#metering/gpu/gpu-record.fixture.ts'
import { createGpuMeter, openGpuSource } from '#node/meter/gpu.ts'
import type { MeterStatus } from '#metering/status.ts'
import { nodeFactsOf } from './node-facts.ts'

const log = createLogger('test', { level: 'error' })
const NODE: MeterStatus = {
  meter: 'node',
  model: { basis: 'a processor', band_pct: '40', cpus: '2' },
  pue: '1.000',
  tariff_j_per_cpu_s: '4.000000000',
  windows: '0',
  windows_fallback: '0',
  reading_nj: '0',
  true_up: { accrued_nj: '0', share_nj: '0', true_up_nj: '0', carried_nj: '0' },
}

const factsWith = (gpu: MeterStatus | undefined) =>
  nodeFacts.parse(
    nodeFactsOf({
      config: readSettings({}, []),
      cells: {
        isolation: { level: 'none', reasons: [] },
        programs: () => new Map(),
        list: () => [],
      },
      meter: { status: () => ({ ...NODE, ...(gpu && { gpu }) }) },
      data: { path: tmpdir() },
    } as unknown as Parameters<typeof nodeFactsOf>[0]),
  )

test('a node without a card has no facts of one', () =>
  assert.equal(factsWith(undefined).gpu, null))

test('a card has its name, its power, its idle power and its method', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-gpu-facts-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'nvidia-smi')
  const line = cardLine({ watts: '90.50', busy: '40' })
  writeFileSync(file, `#!/bin/sh\nwhile :; do echo '${line}'; sleep 0.02; done\n`)
  chmodSync(file, 0o755)
  const environment = { PATH: `${folder}:/usr/bin:/bin` }
  const source = await openGpuSource({ gpu: 'cuda', plugUrl: undefined }, { log, environment })
  t.after(() => source?.close())
  const meter = createGpuMeter(source, {
    meter: 'node',
    cells: { list: () => [] },
    billedByCell: () => new Map(),
    pueMilli: 1000n,
    ask: () => Promise.reject(new TypeError('nobody is asked')),
    log,
  })
  assert.equal(factsWith(meter?.status()).gpu?.method, null, 'no window has closed')
  await meter?.closeWindow()
  await pause(1200)
  await meter?.closeWindow()
  const { gpu } = factsWith(meter?.status())
  assert.deepEqual(
    [gpu?.name, gpu?.cards, gpu?.method, gpu?.cpus, gpu?.reason],
    ['node:gpu', 'NVIDIA H200, driver 580.159.04', 'nvml', '1', 'nvidia-smi is read'],
  )
  // A window is cut by nanoseconds. The least power is idle power until the card is quiet.
  for (const watts of [gpu?.watts, gpu?.idle_watts])
    assert.ok(Math.abs(Number(watts) - 90.5) < 0.01, watts)
  assert.deepEqual([gpu?.billed_watts, gpu?.shares.map(({ payer }) => payer)], ['0', ['operator']])
})
