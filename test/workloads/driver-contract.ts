// The contract of drivers: each of them passes all of it. A test starts instances by the driver alone, without a product.
// ERGON_LONG=1 ends agents and instances at more moments, and has more that do not become ready.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { callUnix } from '#base/unix-client.ts'
import type { Cell, Cells } from '#cells/cell.ts'
import { privilegedIn, putOutside, succeededOf } from '#cells/testing/escape.ts'
import { place, survivors } from '#cells/testing/harness.ts'
import { PROXY_PORT } from '#node/egress.ts'
import { workloadCellOf } from '#workloads/cell-name.ts'
import { imageWordOf } from '#workloads/image-place.ts'
import type {
  RunningWorkload,
  WorkloadDriver,
  WorkloadEnd,
  WorkloadEvents,
  WorkloadSpec,
} from '#workloads/driver.ts'
import { seedPrograms } from '../ergon-cache.ts'
import type { DriverAgent } from './driver-agent.ts'
import { BURN, BY_NAME, DEAF, DESCRIPTORS, TELL_PLACE, UNREADY } from './driver-programs.ts'
import { writeServerImage } from './image.ts'
import { isAttached, relayOf } from './instance-traces.ts'
import {
  LEFT_VOLUME,
  NO_WAIT,
  openDriver,
  specOf,
  type DriverName,
  type DriverPlace,
} from './open-driver.ts'
import { addressesOfMachine, openOutside, TICKET, type Outside } from './outside.ts'
import type { TestEngine } from './podman.ts'

/** A driver as the contract opens it. */
export type ContractDriver = {
  readonly name: DriverName
  /** Behind the name, in the title. */
  readonly on?: string
  readonly skip: string | false
  /** Starts the engine of the driver. */
  readonly engine?: () => Promise<TestEngine>
}

type Started = RunningWorkload & {
  readonly cell: Cell
  readonly lines: readonly string[]
  readonly ends: readonly WorkloadEnd[]
}

const LIMIT_MS = 20_000
const LONG = process.env['ERGON_LONG'] === '1'
const UNREADY_SHORT = 4
/** The time for instances that never become ready. */
const HASTY_MS = 5000
/** When agents are killed after the start of an instance; undefined is once it is ready. */
const DEATHS_MS = LONG ? [undefined, 100, 400] : [undefined, 100]
/** When instances are stopped after their start. */
const STOPS_MS = LONG ? [0, 20, 60, 150, 300] : [0, 150]
const { signal } = new AbortController()

export function driverContract({ name, on, skip, engine: startEngine }: ContractDriver): void {
  suite(`driver ${name}${on === undefined ? '' : ` on ${on}`}`, { skip }, () => {
    const where = skip ? undefined : place()
    const folder = mkdtempSync(join(tmpdir(), 'ergon-driver-'))
    let cells: Cells
    let driver: WorkloadDriver
    let engine: TestEngine | undefined
    let drivers: DriverPlace
    let outside: Outside
    let base: WorkloadSpec
    const image = `oci:${folder}/server:v1`
    let count = 0
    before(async () => {
      assert.ok(where)
      chmodSync(folder, 0o755)
      writeServerImage(join(folder, 'server'))
      engine = await startEngine?.()
      outside = await openOutside(join(where.root, 'outside.sock'))
      const { outlet } = outside
      drivers = { name, engine: engine?.socket, where, imageFolder: folder, outlet }
      await seedPrograms(where.dataFolder)
      ;({ cells, driver } = await openDriver(drivers))
      base = await specOf(driver, image)
    })
    after(async () => {
      await cells?.close()
      outside?.close()
      await engine?.stop()
      for (const path of [folder, where?.root]) rmSync(path ?? '', { recursive: true, force: true })
    })

    const start = async (more: Partial<WorkloadSpec> = {}, by = driver): Promise<Started> => {
      const spec = { ...base, id: `wl_t${++count}`, ...more }
      const lines: string[] = []
      const ends: WorkloadEnd[] = []
      const events: WorkloadEvents = {
        line: (stream, text) => void lines.push(`${stream}: ${text}`),
        ended: (end) => void ends.push(end),
      }
      const running = await by.start(spec, events, NO_WAIT)
      const cell = cells.list().find((one) => one.spec.name === workloadCellOf(spec))
      assert.ok(cell)
      return Object.assign(running, { cell, lines, ends })
    }
    const started = async (more?: Partial<WorkloadSpec>): Promise<Started> => {
      const instance = await start(more)
      await instance.ready(signal)
      return instance
    }

    test('an image is there once it is pulled, and is pruned', async () => {
      assert.ok(driver.has(base))
      assert.ok(!driver.has({ image, digest: `sha256:${'0'.repeat(64)}` }))
      assert.ok(!driver.has({ ...base, image: 'registry.example.com/server:v1' }))
      await driver.prune(async () => new Set([imageWordOf(base)]))
      assert.ok((await driver.bytesOf(base, signal)) > 0)
      assert.ok(driver.has(base))
    })

    test('an instance answers at its address with its variables, and its output is told', async () => {
      const one = await started({ env: { VERSION: 'one', ODD: `a 'b' "$(id)"` } })
      assert.deepEqual(await ask(one), { status: 200, text: 'hello from version one\n' })
      const { text } = await ask(one, '/env')
      assert.ok(text.includes(`ODD=a 'b' "$(id)"\n`) && text.includes('PORT=8080\n'), text)
      await until(() => one.lines.includes('stdout: listening on 8080'))
      await one.end('idle')
      assert.deepEqual([one.cell.state, one.ends], ['stopped', []])
    })

    test('a program opens its outputs by their names, as any user', async () => {
      for (const User of ['0:0', '33:33']) {
        const tag = `outputs-${User.slice(0, 1)}`
        writeServerImage(join(folder, tag), { config: { User } })
        const spec = await specOf(driver, `oci:${folder}/${tag}:v1`)
        const one = await started({ ...spec, command: ['/bin/sh', '-c', BY_NAME] })
        const wanted = ['stdout: hello', 'stderr: a word', 'stdout: again']
        await until(() => wanted.every((line) => one.lines.includes(line)))
        await one.end('idle')
      }
    })

    test('instances of a version run side by side, and the end of one leaves the other', async () => {
      const own = { id: 'wl_pair' }
      const [one, other] = [await started(own), await started({ ...own, instance: 2 })]
      assert.notEqual(one.address, other.address)
      await one.end('idle')
      assert.equal((await ask(other)).status, 200)
      await other.end('idle')
    })

    test('an image that nobody wants stays until its last instance has ended', async () => {
      writeServerImage(join(folder, 'old'), { config: { Labels: { own: 'old' } } })
      const spec = await specOf(driver, `oci:${folder}/old:v1`)
      const pruneOld = () => driver.prune(async () => new Set([imageWordOf(base)]))
      const one = await started(spec)
      await pruneOld()
      assert.ok(driver.has(spec))
      await ask(one, '/exit').catch(() => undefined)
      await until(() => one.ends.length === 1)
      await until(() => one.cell.state === 'ready')
      assert.equal((await ask(one)).status, 200)
      await one.end('idle')
      await pruneOld()
      assert.ok(!driver.has(spec))
    })

    test('its way out begins with its ticket, and nothing else of the machine can be reached', async () => {
      const one = await started()
      assert.equal((await ask(one, '/out')).text, `${TICKET} ${PROXY_PORT}`)
      for (const host of addressesOfMachine()) {
        const { text } = await ask(one, `/dial/${host}/${outside.canaryPort}`)
        assert.match(text, /refused|unreachable/, host)
      }
      assert.equal(outside.canaryHits, 0)
      await one.end('idle')
    })

    test('no attempt to leave it succeeds', async (t) => {
      const { words, programs } = await putOutside(t)
      writeServerImage(join(folder, 'probes'), { folders: [programs] })
      const spec = await specOf(driver, `oci:${folder}/probes:v1`)
      const inImage = [...words, ...privilegedIn('/programs')]
      const command = ['/usr/bin/perl', '/app/escape-probes.pl', ...inImage]
      const one = await start({ ...spec, command })
      await until(() => one.ends.length > 0)
      const output = one.lines.map((line) => line.replace('stdout: ', '')).join('\n')
      const found = succeededOf(output).filter((name) => !engine?.shows.includes(name))
      assert.deepEqual(found, [])
      await one.end('idle')
    })

    test('its CPU is counted, only grows, and is kept behind its end', async () => {
      const one = await started()
      const before = one.cell.cpuNs()
      // By a process that its parent has left.
      await ask(one, '/burn')
      await until(() => one.lines.includes('stdout: burnt'))
      const worked = one.cell.cpuNs()
      assert.ok(worked - before > 300_000_000n, `${worked - before}`)
      await ask(one, '/exit').catch(() => undefined)
      await until(() => one.ends.length > 0)
      assert.ok(one.cell.cpuNs() >= worked)
      await one.end('idle')
      assert.ok(one.cell.cpuNs() >= worked)
    })

    test('a frozen instance uses nothing, and goes on', async () => {
      const one = await started({ command: ['/bin/sh', '-c', BURN] })
      await one.cell.freeze(true)
      const before = one.cell.cpuNs()
      await pause(500)
      assert.ok(one.cell.cpuNs() - before < 5_000_000n)
      await one.cell.freeze(false)
      await until(() => one.cell.cpuNs() - before > 50_000_000n)
      assert.equal((await ask(one)).status, 200)
      await one.end('balance')
    })

    test('a slowed instance uses its part at most, and goes on', async () => {
      const one = await started({ command: ['/bin/sh', '-c', BURN] })
      const usesLittle = async () => {
        const [beforeNs, sinceMs] = [one.cell.cpuNs(), performance.now()]
        await pause(1000)
        const usedMs = Number(one.cell.cpuNs() - beforeNs) / 1e6
        assert.ok(usedMs < 0.03 * (performance.now() - sinceMs), `${usedMs} ms`)
      }
      // A hundredth of a processor.
      one.cell.limitCpu('energy', 10)
      await usesLittle()
      one.cell.limitCpu('energy', undefined)
      const beforeNs = one.cell.cpuNs()
      await until(() => one.cell.cpuNs() - beforeNs > 100_000_000n)
      await one.end('balance')
    })

    test('one that ends is told, is started again, and answers at the same address', async () => {
      const one = await started()
      const { address } = one
      await ask(one, '/exit').catch(() => undefined)
      await until(() => one.ends.length === 1)
      assert.deepEqual(one.ends, [{ exitCode: 3, words: 'it ended by exit code 3' }])
      assert.ok(one.lines.includes('stderr: a fault'))
      await until(() => one.cell.state === 'ready')
      assert.equal(one.address, address)
      assert.equal((await ask(one)).status, 200)
      await one.end('idle')
    })

    // That of a container is ended in docker.test.ts.
    const isLocal = name === 'local'
    test('the end of its relay is the end of all of it', { skip: !isLocal }, async () => {
      const mark = 'of-relay'
      const one = await started({ command: ['/usr/bin/perl', '/app/server.pl', mark] })
      const before = survivors(mark)
      process.kill(relayOf(one.cell), 'SIGKILL')
      await until(() => one.ends.length === 1)
      await until(() => !before.some((pid) => survivors(mark).includes(pid)))
      await until(() => one.cell.state === 'ready')
      assert.equal((await ask(one)).status, 200)
      await one.end('idle')
    })

    test('one that uses up its memory ends with 137', async () => {
      const one = await started({ memoryBytes: 32_000_000 })
      await ask(one, '/eat').catch(() => undefined)
      await until(() => one.ends.length === 1)
      assert.deepEqual(one.ends, [{ exitCode: 137, words: 'it used up its memory' }])
      await one.end('idle')
    })

    test('a volume is kept by the next instance, is limited, grows, and is held by nothing after the end', async () => {
      const volume = { id: 'vol_kept', name: 'data', path: '/data', bytes: 16_000_000 }
      const own = { id: 'wl_volume', volumes: [volume] }
      const one = await started(own)
      assert.equal((await ask(one, '/keep/it')).text, 'kept it')
      assert.equal((await ask(one, '/fill')).text, 'No space left on device')
      await ask(one, '/exit').catch(() => undefined)
      await until(() => one.ends.length === 1)
      await until(() => one.cell.state === 'ready')
      assert.equal((await ask(one, '/kept')).text, 'it')
      await one.end('idle')
      await until(() => !isAttached(volume.id))
      const usedBytes = (await driver.volumes.used()).get(volume.id) ?? 0
      assert.ok(usedBytes > 0 && usedBytes < volume.bytes, `${usedBytes}`)
      const next = await started({
        ...own,
        version: 2,
        volumes: [{ ...volume, bytes: 64_000_000 }],
      })
      assert.equal((await ask(next, '/kept')).text, 'it')
      assert.match((await ask(next, '/mount')).text, /^\S+ \/data ext4 rw,\S*nosuid,nodev/)
      assert.ok(Number((await ask(next, '/room')).text) > 50_000_000)
      await next.end('idle')
      await until(() => !isAttached(volume.id))
      await driver.volumes.keep(own.id, new Set())
      assert.equal((await driver.volumes.used()).size, 0)
    })

    test('links that a program leaves in its volume lead none of ours out of it', async () => {
      const volumes = [{ id: 'vol_links', name: 'data', path: '/data', bytes: 16_000_000 }]
      const tag = 'links'
      const paths = DESCRIPTORS.map((number) => `data/${number}/file`)
      writeServerImage(join(folder, tag), {
        files: Object.fromEntries(paths.map((path) => [path, ''])),
      })
      const spec = { ...(await specOf(driver, `oci:${folder}/${tag}:v1`)), id: 'wl_links', volumes }
      const links =
        'symlink "/proc/self/fd/$_", "/data/$_" for @ARGV; symlink "/etc/shadow", "/data/link"'
      const program = `${links}; symlink "/", "/data/all"; do "/app/server.pl"`
      const command = ['/usr/bin/perl', '-e', program, ...DESCRIPTORS.map(String)]
      const before = statSync('/etc/shadow')
      const first = await started({ ...spec, command })
      await first.end('idle')
      await until(() => !isAttached('vol_links'))
      for (const number of DESCRIPTORS) {
        const config = { ...spec.config, folder: `/data/${number}` }
        const told = ['/usr/bin/perl', '-e', TELL_PLACE]
        const next = await start({ ...spec, version: 2, config, command: told })
        await until(() => next.ends.length > 0)
        assert.ok(!next.lines.includes('stdout: outside'), `${number}`)
        await next.end('idle')
        await until(() => !isAttached('vol_links'))
      }
      await driver.volumes.keep(spec.id, new Set())
      const after = statSync('/etc/shadow')
      assert.deepEqual([after.uid, after.mode, after.size], [before.uid, before.mode, before.size])
    })

    test('one that does not become ready says why', async () => {
      const hasty = await openDriver({ ...drivers, readyMs: HASTY_MS }, cells)
      for (const [more, why] of LONG ? UNREADY : UNREADY.slice(0, UNREADY_SHORT)) {
        const one = await start(more, hasty.driver)
        await assert.rejects(one.ready(signal), why)
        await one.end('failed')
      }
    })

    test('a stop is asked for by a signal; one that is deaf is killed', async () => {
      const one = await started()
      await one.end('idle')
      assert.ok(one.lines.includes('stdout: ended'), one.lines.join())
      const deaf = await started({ command: ['/bin/sh', '-c', DEAF] })
      const before = performance.now()
      await deaf.cell.stop(300)
      assert.ok(performance.now() - before > 290)
      assert.equal(deaf.cell.state, 'stopped')
    })

    test('a killed agent leaves nothing that runs, and the next one starts the same again', async () => {
      const own = { ...drivers, where: place() }
      const { root, dataFolder } = own.where
      await seedPrograms(dataFolder)
      for (const dieAfterMs of DEATHS_MS) {
        const mark = `${root}-${dieAfterMs}`
        const agent = startAgent({ place: own, image, mark, ...(dieAfterMs && { dieAfterMs }) })
        const ended = once(agent, 'exit')
        const left = () => survivors(mark).filter((pid) => pid !== agent.pid).length
        if (dieAfterMs === undefined) {
          await once(agent.stdout, 'data', { signal: AbortSignal.timeout(60_000) })
          const before = left()
          agent.kill('SIGKILL')
          assert.ok(before > 0)
        }
        await ended
        await until(() => left() === 0)
        // An engine unmounts what it finds at its next start of a container.
        if (engine === undefined) await until(() => !isAttached(LEFT_VOLUME.id))
      }
      const next = await openDriver(own)
      assert.equal(engine?.tool('ps', '--all', '--quiet').trim() ?? '', '')
      const spec = { ...(await specOf(next.driver, image)), volumes: [LEFT_VOLUME] }
      const events = { line: () => undefined, ended: () => undefined }
      const one = await next.driver.start(spec, events, NO_WAIT)
      await one.ready(signal)
      assert.equal((await ask(one)).status, 200)
      assert.equal((await ask(one, '/keep/it')).text, 'kept it')
      await next.cells.close()
      await until(() => !isAttached(LEFT_VOLUME.id))
      rmSync(root, { recursive: true, force: true })
    })

    test('a stop in the middle of a start leaves nothing', async () => {
      for (const afterMs of STOPS_MS) {
        const one = await start()
        await pause(afterMs)
        await one.end('suspended')
        assert.equal(one.cell.state, 'stopped')
      }
    })
  })
}

const AGENT = join(import.meta.dirname, 'driver-agent.ts')
const startAgent = (agent: DriverAgent) =>
  spawn(process.execPath, [AGENT, JSON.stringify(agent)], { stdio: ['ignore', 'pipe', 'inherit'] })

const ask = ({ address }: Pick<RunningWorkload, 'address'>, path = '/') =>
  callUnix({
    socketPath: address.replace('unix:', ''),
    path,
    signal: AbortSignal.timeout(LIMIT_MS),
  })

async function until(holds: () => boolean): Promise<void> {
  const lastMs = performance.now() + LIMIT_MS
  while (!holds()) {
    assert.ok(performance.now() < lastMs, `not within ${LIMIT_MS} ms: ${holds}`)
    await pause(20)
  }
}
