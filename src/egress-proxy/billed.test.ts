// The CPU that a cell of an account causes in the proxy is in the cell's share of the meter's windows: the real program in a
// real cell, and the meter of a node.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { createLogger } from '#base/log.ts'
import { createLogTail } from '#base/log-tail.ts'
import type { Cell } from '#cells/cell.ts'
import { createCells } from '#cells/create-cells.ts'
import { echoSpec, place } from '#cells/testing/harness.ts'
import { readSettings } from '#config/config.ts'
import { COMPILED_FOLDER } from '#node/bundles.ts'
import { PROXY_PORT } from '#node/egress.ts'
import { createMeter } from '#node/meter/meter.ts'
import { createEgress } from './agent.ts'

const MIB = 2 ** 20
const DOWNLOAD_BYTES = 20 * MIB
const PROXY = 'egress'
const HOST = '127.0.0.1'
const log = createLogger('test', { level: 'error' })

/** A proxy and cells of accounts, metered; the test says the words of a cell's pid 1. */
async function start(t: TestContext) {
  const where = place()
  mkdirSync(join(where.dataFolder, COMPILED_FOLDER), { recursive: true })
  const cells = await createCells(where)
  t.after(async () => {
    await cells.close()
    rmSync(where.root, { recursive: true })
  })
  const { runFolder, dataFolder } = where
  const config = readSettings({ egressNetworks: `${HOST}/32`, sysfsRoot: where.root }, [])
  const settings = { runFolder, dataFolder, logLevel: 'error', logTail: createLogTail() } as const
  const egress = createEgress({ cells, config, place: settings }, [])
  const meter = await createMeter({
    config,
    cells,
    log,
    name: 'node',
    routedTo: 'ergon/local/cpu-x64',
    calibrationFile: join(where.root, 'calibration.json'),
    signal: new AbortController().signal,
  })
  t.after(() => meter.close())
  const window = async () => {
    await meter.refresh(AbortSignal.timeout(10_000))
    const { shares } = await meter.closeWindow()
    return new Map(shares.map(({ name, cpuNs }) => [name, cpuNs]))
  }
  /** A cell of an account, and connections of it to the proxy. */
  const tenant = async (name: string, account: string) => {
    const payer = { kind: 'account', account } as const
    const cell = await cells.start(echoSpec(where, { name, payer }))
    await cell.ready(AbortSignal.timeout(60_000))
    const { socket: path, ticket } = await egress.outletOf({ name, account })
    const open = () => {
      const socket = connect(path)
      socket.write(`${ticket} ${PROXY_PORT}\n`)
      return socket
    }
    return { cell, open }
  }
  const proxy = () => cells.list().find(({ spec }) => spec.name === PROXY) as Cell
  return { window, tenant, proxy }
}

/** A server of so many bytes. */
async function serve(t: TestContext, bytes: number): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end(Buffer.alloc(bytes))
  }).listen(0, HOST)
  await once(server, 'listening')
  t.after(() => server.close())
  return `${HOST}:${(server.address() as AddressInfo).port}`
}

test('a cell that downloads 20 MB pays the proxy’s CPU for it, and no nanosecond is in two shares', async (t) => {
  const { window, tenant, proxy } = await start(t)
  const loading = await tenant('fn-a-1', 'acct_a')
  const resting = await tenant('fn-b-1', 'acct_b')
  const address = await serve(t, DOWNLOAD_BYTES)
  await window()
  await window()
  const cells = [loading.cell, resting.cell, proxy()]
  const before = cells.map((cell) => cell.cpuNs())
  const socket = loading.open()
  socket.write(`CONNECT ${address} HTTP/1.1\r\n\r\n`)
  assert.ok((await buffer(socket)).length > DOWNLOAD_BYTES)
  const windows = [await window(), await window(), await window()]
  const own = cells.map((cell, nth) => cell.cpuNs() - (before[nth] ?? 0n))
  const share = (name: string) => windows.reduce((sum, one) => sum + (one.get(name) ?? 0n), 0n)
  const [ofLoading, ofResting, ofProxy] = ['fn-a-1', 'fn-b-1', PROXY].map(share) as [
    bigint,
    bigint,
    bigint,
  ]
  const [loadingNs = 0n, restingNs = 0n, proxyNs = 0n] = own
  const moved = Number(ofLoading - loadingNs) / Number(proxyNs)
  t.diagnostic(`proxy ${proxyNs} ns, of which the cell pays ${ofLoading - loadingNs} ns (${moved})`)
  // The rest is what the proxy does for nobody: the page of its figures, and timers.
  assert.ok(moved > 0.7 && moved <= 1.05, `${moved} of the proxy’s CPU`)
  assert.ok(ofResting - restingNs < proxyNs / 20n, 'a neighbour pays nothing')
  const [shared, used] = [ofLoading + ofResting + ofProxy, loadingNs + restingNs + proxyNs]
  // Cells use CPU between the reading of the meter and that of the test.
  const differenceNs = shared > used ? shared - used : used - shared
  assert.ok(differenceNs < used / 10n, `${shared} of ${used}`)
})
