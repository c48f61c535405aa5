// The life of a cell: its start, its output, its restarts and its stop.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import type { CellSpec, OutputLine } from './cell.ts'
import { createCells } from './create-cells.ts'
import { readArguments } from './process-table.ts'
import { findProgram } from './stop.ts'
import type { EchoReply } from './testing/echo-cell.ts'
import { APP_FOLDER, ask, ECHO, echoSpec, eventually, place, survivors } from './testing/harness.ts'
import { openPlace, ROOT, scriptSpec } from './testing/script-cells.ts'

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

  const { cells, where } = await openPlace(t, { appFolder: app, dataFolder, level: 'root' })
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

test('a program that a signal ends is described by its own words alone', async (t) => {
  const { cells, where } = await openPlace(t)
  const lines: OutputLine[] = []
  const output = (line: OutputLine) => void lines.push(line)
  const script = 'echo begun >&2; : > "$1"; exec sleep 1000'
  const cell = await cells.start(scriptSpec(where, script, { output }))
  await cell.ready()
  await cell.stop()
  assert.deepEqual(lines, [{ stream: 'stderr', text: 'begun' }])
})

test('the agent reads nothing of what a program writes to the descriptor of its config', async (t) => {
  const { cells, where } = await openPlace(t)
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
  const { cells, where } = await openPlace(t)
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
  const { cells, where } = await openPlace(t)
  const probe = () => new Promise<void>(() => undefined)
  const ready = { probe, timeoutMs: 50 }
  const cell = await cells.start(scriptSpec(where, 'sleep 60; :', { ready }))
  assert.ok(await eventually(() => cell.exits.length >= 2))
})

test('stop() signals the program itself, with or without a handler of its own', async (t) => {
  const { cells, where } = await openPlace(t)
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
  const { cells, where } = await openPlace(t)
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
  const { cells, where } = await openPlace(t)
  for (const waitMs of [0, 1, 2, 4, 8, 16]) {
    const cell = await cells.start(scriptSpec(where, 'sleep 60; :'))
    await sleep(waitMs)
    await cell.stop()
    assert.deepEqual(survivors(where.runFolder), [])
  }
})

test('a name runs once, and can be started again with its CPU counted anew', async (t) => {
  const { cells, where } = await openPlace(t)
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
  const { cells, where } = await openPlace(t)
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
  const { cells, where } = await openPlace(t)
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
