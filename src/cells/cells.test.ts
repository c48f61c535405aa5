import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

import { sleep } from '#base/clock.ts'

import type { Cell, Cells, CellSpec, OutputLine } from './cell.ts'
import { findCgroups } from './cgroup.ts'
import { createCells } from './create-cells.ts'
import type { PlaceOptions } from './place.ts'
import { readArguments } from './process-table.ts'
import { findProgram } from './stop.ts'
import type { EchoReply } from './testing/echo-cell.ts'
import { APP_FOLDER, ask, ECHO, echoSpec, eventually, place, survivors } from './testing/harness.ts'

const ROOT = { skip: process.getuid?.() === 0 ? false : 'needs root' }

async function open(t: TestContext, more: Partial<PlaceOptions> = {}) {
  const where = place(more)
  const cells = await createCells(where)
  t.after(async () => {
    await cells.close()
    assert.deepEqual(survivors(where.root), [])
    rmSync(where.root, { recursive: true })
  })
  return { cells, where }
}

/** A cell of a shell script, which is ready once it has made its socket's file. */
function scriptSpec(where: PlaceOptions, script: string, more: Partial<CellSpec> = {}): CellSpec {
  const folder = join(where.runFolder, 'scripts', 'script')
  const argv = ['/bin/sh', '-c', script, 'script', join(folder, 's')] as const
  return echoSpec(where, {
    name: 'script',
    socketGroup: 'scripts',
    argv,
    environment: { PATH: '/usr/bin:/bin' },
    ready: {
      probe: async (path) => assert.ok(existsSync(path)),
      timeoutMs: 10_000,
    },
    ...more,
  })
}

const lastExit = (cells: Cells) => cells.list()[0]?.exits.at(-1)

test('a clone under a closed home works, and its home stays closed', ROOT, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'home-'))
  const app = join(home, 'clone')
  for (const folder of ['base', 'cells'])
    cpSync(join(APP_FOLDER, 'src', folder), join(app, 'src', folder), { recursive: true })
  cpSync(join(APP_FOLDER, 'package.json'), join(app, 'package.json'))
  mkdirSync(join(home, 'private'))
  chmodSync(home, 0o700)
  t.after(() => rmSync(home, { recursive: true }))
  const dataFolder = join(app, '.data')
  const argv = [process.execPath, join(app, 'src/cells/testing/echo-cell.ts')] as const

  const { cells, where } = await open(t, { appFolder: app, dataFolder, level: 'root' })
  const cell = await cells.start(echoSpec(where, { argv }))
  await cell.ready()
  const file = join(cell.spec.writes[0] ?? '', 'file')
  assert.equal(await ask(cell.socket, { ask: 'write', path: file }), 'ok')
  assert.equal(await ask(cell.socket, { ask: 'read', path: join(home, 'private') }), 'ENOENT')
  assert.equal(await ask(cell.socket, { ask: 'read', path: join(dataFolder, 'cells') }), 'EISDIR')
  await cells.close()

  // Without mounts it cannot work: that is said, with what would help.
  const plain = await createCells({ ...where, level: 'plain' })
  await assert.rejects(plain.start(echoSpec(where, { argv })), {
    message: `The cell echo has a uid of its own, which may not pass; chmod o+x: ${home}`,
  })
  await plain.close()
})

test('of a program that a signal ends nothing is said but by itself', async (t) => {
  const { cells, where } = await open(t)
  const lines: OutputLine[] = []
  const output = (line: OutputLine) => void lines.push(line)
  const script = 'echo begun >&2; : > "$1"; exec sleep 1000'
  const cell = await cells.start(scriptSpec(where, script, { output }))
  await cell.ready()
  await cell.stop()
  assert.deepEqual(lines, [{ stream: 'stderr', text: 'begun' }])
})

test('the agent reads nothing of what a program writes to the descriptor of its config', async (t) => {
  const { cells, where } = await open(t)
  const lines: OutputLine[] = []
  const output = (line: OutputLine) => void lines.push(line)
  const script =
    ': > "$1"; head -c 5000000 /dev/zero >&3 & sleep 0.5; kill $! && echo waits; sleep 1000'
  const cell = await cells.start(scriptSpec(where, script, { output }))
  await eventually(() => lines.length > 0)
  assert.deepEqual(lines, [{ stream: 'stdout', text: 'waits' }])
  await cell.stop()
})

test('a program that ends at once is started again and again, later and later', async (t) => {
  const { cells, where } = await open(t)
  const restart = { delaysMs: [1, 2, 3], steadyMs: 60_000 }
  const cell = await cells.start(scriptSpec(where, 'exit 3', { restart }))
  await eventually(() => cell.exits.length >= 3)
  assert.deepEqual(
    cell.exits.slice(0, 3).map(({ code, signal }) => ({ code, signal })),
    Array.from({ length: 3 }, () => ({ code: 3, signal: null })),
  )
  const ready = cell.ready()
  await Promise.all([assert.rejects(ready, /Stopped before it answered: script/), cell.stop()])
  assert.equal(cell.state, 'stopped')
})

test('a program that does not answer in time is ended and started again', async (t) => {
  const { cells, where } = await open(t)
  const probe = () => new Promise<void>(() => undefined)
  const ready = { probe, timeoutMs: 50 }
  const cell = await cells.start(scriptSpec(where, 'sleep 60; :', { ready }))
  assert.ok(await eventually(() => cell.exits.length >= 2))
})

test('stop() signals the program itself, with or without a handler of its own', async (t) => {
  const { cells, where } = await open(t)
  const handled = scriptSpec(where, 'trap "exit 5" TERM; : > "$1"; while :; do sleep 0.01; done')
  const cell = await cells.start(handled)
  await cell.ready()
  await cell.stop()
  assert.equal(cell.exits[0]?.code, 5)

  const argv = ['/usr/bin/sleep', '60'] as const
  const unhandled = await cells.start(scriptSpec(where, '', { argv }))
  const { level } = cells
  await eventually(() => {
    const program = findProgram(unhandled.pid ?? 0, level !== 'plain')
    return program !== undefined && readArguments(program)[0] === argv[0]
  })
  await unhandled.stop()
  assert.deepEqual(unhandled.exits[0]?.signal, 'SIGTERM')
})

test('stop() kills a program that does not listen, and all that it has started', async (t) => {
  const { cells, where } = await open(t)
  const script = 'trap "" TERM; setsid sleep 60 & sleep 60 & : > "$1"; while :; do wait; done'
  const stop = { signal: 'SIGTERM', graceMs: 30 } as const
  const cell = await cells.start(scriptSpec(where, script, { stop }))
  await cell.ready()
  await cell.freeze(true)
  await cell.stop()
  assert.equal(cell.exits[0]?.signal, 'SIGKILL')
  assert.deepEqual(cells.list(), [])
})

test('stop() in the middle of a start leaves nothing', async (t) => {
  const { cells, where } = await open(t)
  for (const waitMs of [0, 1, 2, 4, 8, 16]) {
    const cell = await cells.start(scriptSpec(where, 'sleep 60; :'))
    await sleep(waitMs)
    await cell.stop()
    assert.deepEqual(survivors(where.runFolder), [])
  }
})

test('a name runs once, and can be started again with its CPU counted anew', async (t) => {
  const { cells, where } = await open(t)
  const cell = await cells.start(echoSpec(where))
  await assert.rejects(cells.start(echoSpec(where)), /one of its name runs: echo/)
  await cell.ready()
  await cell.stop()
  const total = cell.cpuNs()
  assert.ok(total > 0n)
  const again = await cells.start(echoSpec(where))
  await again.ready()
  assert.equal(cell.cpuNs(), total)
  await again.stop()
})

test('lines of output go to the one who asked for them', async (t) => {
  const { cells, where } = await open(t)
  const lines: OutputLine[] = []
  const output = (line: OutputLine) => lines.push(line)
  const cell = await cells.start(
    scriptSpec(where, 'echo out; echo err >&2; : > "$1"; sleep 60', { output }),
  )
  await cell.ready()
  await eventually(() => lines.length >= 2)
  assert.deepEqual(
    lines.toSorted((a, b) => a.text.localeCompare(b.text)),
    [
      { stream: 'stderr', text: 'err' },
      { stream: 'stdout', text: 'out' },
    ],
  )
  await cell.stop()
})

test('limits of files, processes and memory hold', ROOT, async (t) => {
  const { cells, where } = await open(t)
  const { isolation } = cells
  if (isolation.memoryLimit === 'none') return t.skip('no memory controller here')
  const files = await cells.start(
    scriptSpec(where, 'test "$(ulimit -n)" = 77 && exit 9', { limits: { files: 77 } }),
  )
  await eventually(() => files.exits.length > 0)
  assert.equal(files.exits[0]?.code, 9)
  await files.stop()

  const takes = await cells.start(
    scriptSpec(where, 'dd if=/dev/zero of=/dev/null bs=99M count=1 2>/dev/null || exit 9', {
      limits: { processMemoryBytes: 80e6 },
    }),
  )
  await eventually(() => takes.exits.length > 0)
  assert.equal(takes.exits[0]?.code, 9)
  await takes.stop()

  const fork = 'for n in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; exit 0'
  const processes = await cells.start(scriptSpec(where, fork, { limits: { processes: 8 } }))
  await eventually(() => processes.exits.length > 0)
  assert.equal(processes.exits[0]?.code, 2)
  await processes.stop()

  const eat = [
    process.execPath,
    '-e',
    'const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))',
  ] as const
  const memory = await cells.start(
    scriptSpec(where, '', { argv: eat, limits: { memoryBytes: 150e6 } }),
  )
  await eventually(() => memory.exits.length > 0)
  assert.equal(lastExit(cells)?.signal, 'SIGKILL')
})

test('the path of a socket that does not fit is refused, with its length', async (t) => {
  const where = place()
  const runFolder = join(where.root, 'r'.repeat(100))
  const { cells } = await open(t, { runFolder })
  await assert.rejects(
    cells.start(echoSpec({ ...where, runFolder })),
    /has \d{3} bytes, and 107 is the most/,
  )
  rmSync(where.root, { recursive: true })
})

test('specs that a shell or the kernel would misread are refused', async (t) => {
  const { cells, where } = await open(t)
  const refused: Partial<CellSpec>[] = [
    { name: 'Not A Name' },
    { name: '../up' },
    { calls: ['a/b'] },
    { socket: 'a/b' },
    { argv: ['node'] },
    { argv: ['/a=b'] },
    { argv: ['/bin/true', 'a\0b'] },
    { environment: { 'A B': '' } },
    { environment: { IFS: 'x' } },
    { environment: { A: '\0' } },
  ]
  for (const more of refused)
    await assert.rejects(cells.start({ ...echoSpec(where), ...more }), TypeError)
  assert.deepEqual(cells.list(), [])
})

test('createCells() refuses a data folder that another agent holds', async (t) => {
  const { where } = await open(t)
  await assert.rejects(createCells(where), { code: 'locked' })
})

test('startProcess() refuses to be called from a worker, whose end would kill the cell', async () => {
  const script = `
    const { startProcess } = await import(${JSON.stringify(new URL('launch.ts', import.meta.url).href)})
    startProcess({}, {})`
  const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`)
  const error = await new Promise((resolve) => new Worker(url).once('error', resolve))
  assert.match(String(error), /main thread/)
})

test('a cell gets its config, and knows when its agent is gone', async (t) => {
  const where = place()
  t.after(() => rmSync(where.root, { recursive: true }))
  const socket = join(where.root, 's')
  const program = spawn(process.execPath, [ECHO, where.root], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  const line = program.stdio[3] as Socket
  line.write(`${JSON.stringify({ socket })}\n`)
  t.after(() => program.kill('SIGKILL'))
  let info: EchoReply | undefined
  // Its socket is there a moment before it listens.
  for (const until = performance.now() + 60_000; !info && performance.now() < until; await sleep(5))
    info = await ask<EchoReply>(socket, { ask: 'info' }).catch(() => undefined)
  assert.deepEqual(info?.config, { socket })
  line.destroy()
  const [code] = (await once(program, 'exit')) as [number]
  assert.equal(code, 0)
})

test('a cell that says that it is stuck, or answers no more, is ended and started again', async (t) => {
  const { cells, where } = await open(t)
  const watched = { everyMs: 20, silentMs: 80 }
  let words: string | undefined
  const says = { ...watched, look: () => Promise.resolve(words) }
  const never = new Promise<undefined>(() => {})
  let isSilent = false
  const silent = { ...watched, look: () => (isSilent ? never : Promise.resolve(undefined)) }
  let refusals = 0
  const refuses = {
    ...watched,
    look: () => {
      refusals++
      return isSilent ? Promise.reject(new Error('refused')) : Promise.resolve(undefined)
    },
  }
  const start = (name: string, more: Partial<CellSpec>) =>
    cells.start(echoSpec(where, { name, ...more }))
  const all = await Promise.all([
    start('one', { watch: says }),
    start('two', { watch: silent }),
    start('three', { watch: { ...watched, look: () => Promise.resolve(undefined) } }),
    start('four', { watch: refuses }),
  ])
  await Promise.all(all.map((cell) => cell.ready()))
  const [one, two, three, four] = all
  words = 'it makes no step'
  isSilent = true
  refusals = 0
  await eventually(() => [one, two, four].every((cell) => cell.exits.length > 0))
  words = undefined
  isSilent = false
  assert.deepEqual([one.exits[0]?.stuck, one.exits[0]?.signal], ['it makes no step', 'SIGKILL'])
  assert.match(two.exits[0]?.stuck ?? '', /^no answer for 80 ms/)
  assert.equal(four.exits[0]?.stuck, 'no answer for 80 ms: refused')
  assert.ok(refusals >= 4, `${refusals} looks, 20 ms apart, are no 80 ms`)
  await eventually(() => all.every((cell) => cell.state === 'ready'))
  assert.equal(three.exits.length, 0)
})

test('a limit of processors holds for all processes of a cell together', ROOT, async (t) => {
  const { cells, where } = await open(t)
  if (cells.isolation.cpuLimit === 'none') return t.skip('no cpu controller here')
  const burn = 'while :; do :; done & while :; do :; done'
  const cell = await cells.start(scriptSpec(where, burn, { limits: { cpuMilli: 50 } }))
  await eventually(() => cell.cpuNs() > 0n)
  const begun = performance.now()
  const before = cell.cpuNs()
  await pause(2000)
  const usedMs = Number(cell.cpuNs() - before) / 1e6
  const passedMs = performance.now() - begun
  assert.ok(usedMs < passedMs * 0.1, `${usedMs} ms in ${passedMs} ms`)
  await cell.stop()
})

test(
  'the processors of a cell of an account are limited while it runs, and no more',
  ROOT,
  async (t) => {
    const { cells, where } = await open(t)
    if (cells.isolation.cpuLimit === 'none') return t.skip('no cpu controller here')
    const payer = { kind: 'account', account: 'acct_1' } as const
    for (const cpuMilli of [undefined, 500]) {
      const limits = cpuMilli === undefined ? {} : { cpuMilli }
      const cell = await cells.start(scriptSpec(where, 'while :; do :; done', { limits, payer }))
      await eventually(() => cell.cpuNs() > 0n)
      cell.limitCpu('energy', 50)
      const begun = performance.now()
      const before = cell.cpuNs()
      await pause(2000)
      const usedMs = Number(cell.cpuNs() - before) / 1e6
      const passedMs = performance.now() - begun
      assert.ok(usedMs < passedMs * 0.1, `${usedMs} ms in ${passedMs} ms`)
      assert.equal(limitOf(cell), 50)
      cell.limitCpu('energy', undefined)
      assert.equal(limitOf(cell), cpuMilli)
      await cell.stop()
    }
  },
)

/** Thousandths of a processor; undefined where nothing limits. */
function limitOf({ pid }: Pick<Cell, 'pid'>): number | undefined {
  const { cpu, unified = '' } = findCgroups()
  const line = cpu === undefined ? /^0::(.*)$/m : /^\d+:cpu:(.*)$/m
  const pathOf = (of: string) => line.exec(readFileSync(`/proc/${of}/cgroup`, 'utf8'))?.[1] ?? ''
  const own = pathOf('self')
  const path = pathOf(String(pid)).slice(own === '/' ? 0 : own.length)
  const read = (folder: string, file: string) => readFileSync(join(folder, path, file), 'utf8')
  const [quota, period] =
    cpu === undefined
      ? read(unified, 'cpu.max').split(' ').map(Number)
      : [read(cpu, 'cpu.cfs_quota_us'), read(cpu, 'cpu.cfs_period_us')].map(Number)
  return Number(quota) > 0 ? (1000 * Number(quota)) / Number(period) : undefined
}
