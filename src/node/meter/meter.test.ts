import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { createLogger } from '#base/log.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import { readTariff } from '#charging/tariff.ts'
import { readSettings } from '#config/config.ts'
import type { RawSettings } from '#config/env.ts'
import { calibrationText, parseCalibration } from '#metering/calibration.ts'
import { createCalibrator } from './calibrate.ts'
import { carbonAdapter, marginalOf } from './carbon.ts'
import { systemClock } from '#base/clock.ts'
import { createCellReader } from './cells.ts'
import { answering, createMeter, type Meter } from './meter.ts'
import { readCpuInfo } from './model.ts'

const log = createLogger('test', { level: 'error' })
const never = new AbortController().signal

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-meter-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A machine without RAPL, or with one package whose counter is `count`. */
function createSysfs(t: TestContext) {
  const root = temporaryFolder(t)
  const zone = join(root, 'class/powercap/intel-rapl:0')
  const count = (energyUj: bigint) => {
    mkdirSync(zone, { recursive: true })
    writeFileSync(join(zone, 'name'), 'package-0\n')
    writeFileSync(join(zone, 'max_energy_range_uj'), '262143328850\n')
    writeFileSync(join(zone, 'energy_uj'), `${energyUj}\n`)
  }
  return { root, count }
}

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const noCells: Cells['list'] = () => []

type Environment = Readonly<Record<string, string>>

async function startMeter(
  t: TestContext,
  settings: RawSettings,
  list = noCells,
  environment: Environment = {},
) {
  const sysfsRoot = settings.sysfsRoot ?? createSysfs(t).root
  const calibrationFile = join(temporaryFolder(t), 'calibration.json')
  const open = async () => {
    const meter = await createMeter({
      config: readSettings({ ...settings, sysfsRoot }, []),
      cells: { list } as Cells,
      name: 'node',
      routedTo: 'ergon/local/cpu-x64',
      calibrationFile,
      environment,
      signal: new AbortController().signal,
      log,
    })
    t.after(() => meter.close())
    return meter
  }
  return { meter: await open(), open, calibrationFile }
}

/** Each meter's last message: an unchanged meter publishes nothing. */
const bodies = new WeakMap<Meter, unknown>()

/** The message to sessions. */
async function published(meter: Meter) {
  await meter.publish({
    query: async (_text, values = []) => {
      const [body = ''] = values[1] as readonly string[]
      bodies.set(meter, JSON.parse(body))
      return { rows: [], rowCount: 1 }
    },
  })
  return readTariff(bodies.get(meter))
}

test('a machine without a sensor is metered by its model, and nothing is called a fallback', async (t) => {
  const { meter } = await startMeter(t, {})
  const window = await meter.closeWindow()
  assert.deepEqual([window.method, window.bandPct, window.fallback], ['model', 40, undefined])
  const tariff = await published(meter)
  assert.deepEqual(
    [tariff.method, tariff.bandPct, tariff.factor.zone, tariff.factor.basis],
    ['model', '40', 'WORLD', 'assumed'],
  )
  assert.equal(meter.status().carbon.mg_per_kwh, '473000')
})

test('RAPL is used where the kernel shows it, and the tariff is the model’s until that made it', async (t) => {
  const { root, count } = createSysfs(t)
  count(1_000_000n)
  const { meter } = await startMeter(t, { sysfsRoot: root, carbonZone: 'DE' })
  assert.match((await meter.closeWindow()).fallback ?? '', /rapl: no earlier reading/)
  assert.equal((await published(meter)).method, 'model')
  count(1_250_000n)
  const window = await meter.closeWindow()
  assert.deepEqual([window.method, window.readingNj], ['rapl', 250_000_000n])
  // Some milliseconds of a processor, at most: most of the tariff is still what it began with.
  const tariff = await published(meter)
  assert.deepEqual([tariff.method, tariff.bandPct, tariff.factor.zone], ['model', '40', 'DE'])
})

test('a plug is asked at its own page, with its password, and before RAPL', async (t) => {
  const seen: string[] = []
  const host = await serve(t, (request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`)
    response.end('{"apower": 42.5}')
  })
  const { root, count } = createSysfs(t)
  count(1n)
  const plugUrl = `shelly+http://admin:s%3Acret@${host}`
  const { meter } = await startMeter(t, { sysfsRoot: root, plugUrl, plugBandPct: '3' })
  // A machine that is very busy may miss the plug's time limit; then the next window has it.
  let window = await meter.closeWindow()
  for (let left = 20; window.method !== 'plug' && left > 0; left--)
    window = await meter.closeWindow()
  assert.deepEqual([window.method, window.bandPct], ['plug', 3])
  const basic = Buffer.from('admin:s:cret').toString('base64')
  assert.deepEqual([...new Set(seen)], [`/rpc/Switch.GetStatus?id=0 Basic ${basic}`])
})

test('a Redfish address without a path is refused: no chassis has one name', async (t) => {
  await assert.rejects(startMeter(t, { plugUrl: 'redfish+https://bmc.local' }), /needs its path/)
})

test('settings of sensors and carbon are checked together, and no password is shown', () => {
  const faultsOf = (settings: RawSettings) => {
    try {
      return String(readSettings(settings, []).carbonSource)
    } catch (error) {
      assert.ok(error instanceof ErgonError)
      return error.message
    }
  }
  assert.match(faultsOf({ carbonSource: 'uk' }), /knows the zone GB only/)
  assert.equal(faultsOf({ carbonSource: 'uk', carbonZone: 'GB' }), 'uk')
  assert.match(faultsOf({ carbonSource: 'electricity-maps' }), /needs ERGON_CARBON_TOKEN/)
  assert.match(faultsOf({ plugUrl: 'http://plug' }), /must be shelly\+, tasmota\+ or redfish\+/)
  const config = readSettings({ plugUrl: 'tasmota+http://a:hidden@plug' }, [])
  assert.ok(!JSON.stringify(config.plugUrl).includes('hidden'))
})

/** A `nvidia-smi` that says what one of an H200 said, again and again. */
function cardOf(t: TestContext): Environment {
  const folder = temporaryFolder(t)
  const file = join(folder, 'nvidia-smi')
  const line =
    '0, GPU-0a7b6640-5f6c-598a-4338-5104f5eac199, NVIDIA H200, 580.159.04, 78.20, 700.00, 0'
  writeFileSync(file, `#!/bin/sh\nwhile :; do echo '${line}'; sleep 0.02; done\n`, { mode: 0o755 })
  return { PATH: `${folder}:/usr/bin:/bin` }
}

test('ERGON_GPU without a plug is metered by nvidia-smi, with windows and a tariff of its own', async (t) => {
  const { meter } = await startMeter(t, { gpu: 'cuda' }, noCells, cardOf(t))
  const [own, gpu] = await Promise.all([meter.closeWindow(), meter.closeGpuWindow()])
  assert.deepEqual([own.meter, own.method], ['node', 'model'])
  assert.deepEqual([gpu?.meter, gpu?.method, gpu?.fallback], ['node:gpu', 'nvml', undefined])
  assert.ok(gpu !== undefined && gpu.idleNj === gpu.readingNj)
  const tariff = await published(meter)
  // A fiftieth of what is between 78.2 W and 840 W: a guess, and called one, until a busy second is measured.
  assert.deepEqual(tariff.gpu, {
    meter: 'node:gpu',
    method: 'model',
    bandPct: 100,
    njPerGpuS: 15_236_000_000n,
    models: new Map(),
  })
  assert.match(meter.status().gpu?.model.basis ?? '', /NVIDIA H200, driver 580.159.04/)
})

test('ERGON_GPU without nvidia-smi and without a plug ends the start, and with a plug does not', async (t) => {
  const nowhere = { PATH: '/nowhere' }
  await assert.rejects(startMeter(t, { gpu: 'cuda' }, noCells, nowhere), { code: 'gpu_unmetered' })
  const host = await serve(t, (_, response) => response.end('{"apower": 42.5}'))
  const settings = { gpu: 'cuda', plugUrl: `shelly+http://${host}` }
  const { meter } = await startMeter(t, settings, noCells, nowhere)
  assert.equal(await meter.closeGpuWindow(), undefined)
  assert.equal((await published(meter)).gpu, undefined)
})

test('a plug is read without the cards that nvidia-smi meters', async (t) => {
  const host = await serve(t, (_, response) => response.end('{"apower": 178.2}'))
  const settings = { gpu: 'cuda', plugUrl: `shelly+http://${host}` }
  const { meter } = await startMeter(t, settings, noCells, cardOf(t))
  let window = await meter.closeWindow()
  for (let left = 20; window.method !== 'plug' && left > 0; left--)
    window = await meter.closeWindow()
  assert.equal(window.method, 'plug')
  assert.equal(window.readingNj, window.elapsedNs * 100n)
})

test('the carbon source is the one that is set', async () => {
  const nameOf = async (settings: RawSettings) => {
    const adapter = carbonAdapter(readSettings(settings, []))
    await adapter?.close()
    return adapter?.name
  }
  assert.equal(await nameOf({}), undefined)
  assert.equal(await nameOf({ carbonSource: 'uk', carbonZone: 'GB' }), 'UK Carbon Intensity')
  assert.equal(
    await nameOf({ carbonSource: 'electricity-maps', carbonToken: 'key', carbonZone: 'DE' }),
    'Electricity Maps',
  )
})

test('the marginal signal is asked with the login and region of the settings', async (t) => {
  const asked: string[] = []
  const host = await serve(t, (request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`)
    const value = 870
    const points = { data: [{ point_time: new Date().toISOString(), value }] }
    const meta = { units: 'lbs_co2_per_mwh' }
    response.end(JSON.stringify(request.url === '/login' ? { token: 'abc' } : { ...points, meta }))
  })
  const settings = { wattTimeLogin: 'ann:p:w', wattTimeRegion: 'CAISO_NORTH' }
  assert.equal(marginalOf(readSettings({}, [])), undefined)
  const marginal = marginalOf(readSettings(settings, []), `http://${host}`)
  await marginal?.refresh()
  await marginal?.close()
  assert.equal(marginal?.status().mg_per_kwh, '394625')
  assert.deepEqual(asked, [
    `/login Basic ${Buffer.from('ann:p:w').toString('base64')}`,
    '/v3/forecast?region=CAISO_NORTH&signal_type=co2_moer Bearer abc',
  ])
  assert.throws(() => readSettings({ wattTimeLogin: 'ann:pw' }, []), /need each other/)
  assert.throws(() => readSettings({ wattTimeLogin: 'ann' }, []), /<user>:<password>/)
})

test('a calibration in the data folder is the model, one of another machine is named and not used', async (t) => {
  const { open, calibrationFile } = await startMeter(t, {})
  const curve = [
    { permille: 0, milliwatts: 9_000n },
    { permille: 400, milliwatts: 20_000n },
    { permille: 1000, milliwatts: 30_000n },
  ]
  const cpu = readCpuInfo()
  const calibration = { cpu, reference: 'plug', measuredAt: 'today', curve, bandPct: 7 }
  writeFileSync(calibrationFile, calibrationText(calibration))
  const used = await open()
  assert.deepEqual(
    [used.status().model.basis, used.status().model.band_pct],
    ['calibrated by plug at today', '7'],
  )
  assert.equal((await published(used)).bandPct, '7')
  const other = { ...calibration, cpu: { ...cpu, cpus: cpu.cpus + 1 } }
  writeFileSync(calibrationFile, calibrationText(other))
  const { basis, band_pct } = (await open()).status().model
  assert.match(basis, /another processor \(cpus differs\)/)
  assert.equal(band_pct, '40')
})

test('cells that work for cells of accounts, and cells that accounts pay for, do not work for requests', () => {
  const cell = (name: string, more: object = {}) =>
    ({ spec: { name, payer: { kind: 'operator' }, ...more }, state: 'ready' }) as unknown as Cell
  const list = () => [
    cell('state'),
    cell('ingress', { worksForCells: true }),
    cell('fn-1', { payer: { kind: 'account', account: 'a' } }),
  ]
  assert.deepEqual([...answering({ list })], ['state'])
})

test('a cell that has stopped is read once more', () => {
  const cell = (name: string, cpuNs: bigint) =>
    ({ spec: { name, payer: { kind: 'operator' } }, cpuNs: () => cpuNs }) as unknown as Cell
  let now = [cell('a', 1n), cell('b', 2n)]
  const { read } = createCellReader({ list: () => now }, systemClock)
  const names = () => read().map((one) => one.name)
  assert.deepEqual(names(), ['a', 'b'])
  now = [cell('a', 1n)]
  assert.deepEqual(names(), ['a', 'b'])
  assert.deepEqual(names(), ['a'])
})

test('a cell reserves memory, to a billionth and never more, in windows that it is there for whole', () => {
  const memoryBytes = 128 * 2 ** 20
  const now = { state: 'ready' as Cell['state'], list: [] as Cell[] }
  const fn = {
    spec: { name: 'fn-1', payer: { kind: 'account', account: 'a' }, limits: { memoryBytes } },
    get state() {
      return now.state
    },
    cpuNs: () => 0n,
  } as unknown as Cell
  const { read } = createCellReader({ list: () => now.list }, systemClock)
  const reserved = (list: Cell[]) => {
    now.list = list
    return read()[0]?.reservedPpb
  }
  const ppb = (1e9 * memoryBytes) / totalmem()
  assert.equal(reserved([fn]), 0, 'it came in the middle')
  const whole = reserved([fn]) ?? 0
  assert.ok(whole <= ppb && whole > ppb - 1, `${whole} of ${ppb}`)
  now.state = 'waiting'
  assert.equal(reserved([fn]), 0, 'it waits for its next start')
  now.state = 'ready'
  assert.equal(reserved([fn]), whole)
  assert.equal(reserved([{ ...fn, cpuNs: () => 0n }]), 0, 'another of its name')
  assert.equal(reserved([]), 0, 'it has gone in the middle')
})

test('calibrate() needs a sensor', async (t) => {
  const { meter } = await startMeter(t, {})
  const progress = () => undefined
  await assert.rejects(meter.calibrate(never, progress), /there is no sensor/)
})

test('calibrate() keeps nothing when its sensor does not follow the load, and can run again', async (t) => {
  const host = await serve(t, (_, response) => response.end('{"apower": 50}'))
  const calibrationFile = join(temporaryFolder(t), 'calibration.json')
  const config = readSettings(
    { plugUrl: `shelly+http://${host}`, sysfsRoot: createSysfs(t).root },
    [],
  )
  const pace = { settleMs: 10, samples: 1, sampleMs: 100 }
  const calibrate = createCalibrator({ config, calibrationFile, pace })
  const steps: number[] = []
  const first = calibrate(never, (step) => steps.push(step.askedPermille))
  await assert.rejects(
    calibrate(never, () => undefined),
    /another calibration runs/,
  )
  await assert.rejects(first, /does not follow the load/)
  assert.deepEqual(steps, [0, 250, 500, 1000])
  assert.throws(
    () => parseCalibration(readFileSync(calibrationFile, 'utf8'), readCpuInfo()),
    /ENOENT/,
  )
})
