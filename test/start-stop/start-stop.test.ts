// Stops and restarts: by Ctrl-C, by a signal, by the death of the parent or of the agent itself, and side by side
// with another instance.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { existsSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readArguments } from '#cells/process-table.ts'
import { processesOf } from '../faults/processes.ts'
import {
  bootstrapIn,
  call,
  leftOf,
  MAIN,
  marksOfFolder,
  newFolder,
  runFolderOf,
  startRaw,
} from '../faults/raw-start.ts'
import { freeBlock, portFlags } from '../ports.ts'

const INFO = { env: { ERGON_LOG_LEVEL: 'info' } }
const LONG = process.env['ERGON_LONG'] === '1'
const IS_ROOT = process.geteuid?.() === 0
const PLAIN = { ERGON_ISOLATION: 'plain' }
const CLEAN = /database system was shut down/
const RECOVERED = /automatic recovery in progress/

// One data folder for the tests that start what has been started before; the first of them makes its state.
// Not in a hook: what a hook registers to be undone after it is undone at its own end.
const bootstrap = bootstrapIn({ after })
const folder = await newFolder({ after }, 'initialised')
const port = await freeBlock()
const flags: readonly string[] = ['--data', folder, '--json', ...portFlags(port)]
/** The figures come from the output of the first start. */
let token: string

/** A Node that is not the pinned one and cannot replace its own process. */
const OLD_NODE = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((path) => {
    if (!existsSync(path)) return false
    const asked = spawnSync(path, ['-p', 'typeof process.execve'], { encoding: 'utf8' })
    return asked.stdout.trim() === 'undefined'
  })

test('Ctrl-C at the terminal stops everything in order, and the next start is clean', async (t) => {
  const args = [...MAIN, ...flags]
  // Through the wrapper, where there is one: a terminal signals both.
  const wrapped = OLD_NODE === undefined ? args : [OLD_NODE, bootstrap, 'start', ...flags]
  const first = startRaw(wrapped, INFO)
  const made = await first.ready()
  const account = made.account_id
  token = String(made.token)
  await first.says(/everything is up/)
  // A terminal signals the whole foreground group: our cells are not in it.
  process.kill(-(first.child.pid ?? 0), 'SIGINT')
  assert.deepEqual(await first.ended(), { code: 0, signal: null })
  assert.deepEqual(await leftOf(folder), [])
  assert.ok(!existsSync(runFolderOf(folder)), 'the folder of sockets goes with it')
  // Where no terminal is, every line is one of the log; the first and the last say that it stops.
  const messages = first.messages()
  assert.ok(
    messages.some((message) => message.startsWith('stopping (SIGINT): ')),
    messages.join('\n'),
  )
  assert.match(messages.at(-1) ?? '', /^stopped \(\d+\.\d s\)$/)
  const order = [/Gateway stops/, /Signer stops/, /received fast shutdown request/]
  const places = order.map((what) => what.exec(first.stderr())?.index ?? -1)
  assert.ok(
    places.every((place) => place >= 0),
    `${places.join()}\n${first.stderr()}`,
  )
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    'gateways, then signers, then the state',
  )

  const second = startRaw(args, INFO)
  assert.equal((await second.ready()).account_id, account, 'everything is kept')
  await second.says(CLEAN)
  assert.doesNotMatch(second.stderr(), /earlier life/, 'nothing was left to be posted')

  await t.test('a second agent on the data folder is refused in one line', async () => {
    const other = startRaw([...MAIN, '--data', folder, ...portFlags(await freeBlock())])
    assert.equal((await other.ended()).code, 1)
    assert.deepEqual(other.messages(), [
      `Another Ergon runs on the data folder ${folder}: stop it, or give this one another folder (--data)`,
    ])
    assert.equal((await call(await second.ready(), '/healthz')).status, 200)
  })

  await t.test('a taken port is refused in one line', async () => {
    const another = join(await newFolder(t, 'bare'), 'data')
    const other = startRaw([...MAIN, '--data', another, ...portFlags(port)])
    assert.equal((await other.ended()).code, 1)
    assert.match(other.messages().at(-1) ?? '', new RegExp(`port ${port} is taken by another`))
    assert.ok(!existsSync(another), 'where nothing was, nothing is left')
    assert.equal((await call(await second.ready(), '/healthz')).status, 200)
  })

  await t.test(
    'kill -9 of the agent leaves nothing, and the next start works at once',
    async () => {
      second.child.kill('SIGKILL')
      await second.ended()
      // Also the one life of root that isolates by uids alone.
      const third = startRaw(args, { env: { ...INFO.env, ...(IS_ROOT && PLAIN) } })
      const ready = await third.ready()
      assert.equal(ready.account_id, account)
      await third.says(RECOVERED)
      await third.says(/everything is up/)
      if (IS_ROOT) assert.match(third.stderr(), /isolation plain/)
      assert.equal((await call(ready, '/v1/models', { token })).status, 200)
      third.child.kill('SIGTERM')
      assert.deepEqual(await third.ended(), { code: 0, signal: null })
      assert.deepEqual(await leftOf(folder), [])
    },
  )
})

/** Resolves when a gateway of the data folder has begun to start. */
async function gatewayOf(data: string): Promise<void> {
  const isGateway = (line: string) =>
    readArguments(Number.parseInt(line)).some((argument) => /\/gateway\.(mjs|ts)$/.test(argument))
  for (const last = performance.now() + 60_000; ; await pause(5)) {
    if (processesOf(marksOfFolder(data)).some(isGateway)) return
    assert.ok(performance.now() < last, 'no gateway starts')
  }
}

const STEPS = [/isolation/, /PostgreSQL 16/, /state migrated|state is up/]
/** And then the gateways start: the last step before the address and the first token are shown. */
const AT_GATEWAYS = /state migrated|state is up to date/
const MOMENTS = [
  ['SIGINT', /PostgreSQL 16/],
  ['SIGKILL', /state migrated|state is up/],
  ['SIGKILL', AT_GATEWAYS],
] as const
const ALL_MOMENTS = [...STEPS, AT_GATEWAYS].flatMap((step) => [
  ['SIGINT', step] as const,
  ['SIGKILL', step] as const,
])

test('a signal or a kill in the middle of a start leaves nothing, and the next start works', async (t) => {
  const young = await newFolder(t, 'fetched')
  const args = [...MAIN, '--data', young, '--json', ...portFlags(await freeBlock())]
  for (const [signal, moment] of LONG ? ALL_MOMENTS : MOMENTS) {
    const start = startRaw(args)
    await start.says(moment)
    if (moment === AT_GATEWAYS) await gatewayOf(young)
    start.child.kill(signal)
    const ended = await start.ended()
    if (signal === 'SIGINT') {
      assert.deepEqual(ended, { code: 0, signal: null }, start.stderr())
      assert.match(start.messages().at(-1) ?? '', /^stopped /)
    }
    const deadline = performance.now() + 60_000
    while (processesOf(marksOfFolder(young)).length > 0 && performance.now() < deadline)
      await pause(20)
    assert.deepEqual(processesOf(marksOfFolder(young)), [], `${signal} at ${moment}`)
  }
  const last = startRaw(args)
  const ready = await last.ready()
  // No start before had shown the first token.
  assert.equal((await call(ready, '/v1/models')).status, 200)
  last.child.kill('SIGTERM')
  assert.equal((await last.ended()).code, 0)
})

test(
  'npm start under an older Node stops when it is told to',
  { skip: OLD_NODE === undefined ? 'every node on PATH can replace itself' : false },
  async () => {
    const told = startRaw([OLD_NODE ?? '', bootstrap, 'start', ...flags], INFO)
    await told.says(/PostgreSQL 16/)
    told.child.kill('SIGTERM')
    assert.deepEqual(await told.ended(), { code: 0, signal: null })
    assert.deepEqual(await leftOf(folder), [])
  },
)

// Two at once on the default ports, each of which ends as its parents do.
test('two at once choose different ports; npm killed, or an older Node, stops the cloud', async (t) => {
  const other = await newFolder(t, 'initialised')
  // As npm runs a script: a shell between npm and us.
  const inShell = ['/bin/sh', '-c', '"$@"; true', 'npm', process.execPath, bootstrap, 'start']
  const shell = startRaw([...inShell, '--data', folder, '--json'], {
    env: { ...INFO.env, npm_lifecycle_event: 'start' },
  })
  // Where every Node on PATH can replace itself this is the agent's own process.
  const wrapper = OLD_NODE === undefined ? MAIN : [OLD_NODE, bootstrap, 'start']
  const wrapped = startRaw([...wrapper, '--data', other, '--json'], INFO)
  const lines = await Promise.all([shell.ready(), wrapped.ready()])
  const [one, another] = lines.map((line) => new URL(line.base_url).port)
  assert.notEqual(one, another)
  for (const line of lines) assert.equal((await call({ token, ...line }, '/v1/models')).status, 200)
  for (const start of [shell, wrapped]) start.child.kill('SIGKILL')
  await once(shell.child, 'exit')
  // Their output closes when the agents have ended too.
  for (const start of [shell, wrapped]) await start.ended()
  for (const start of OLD_NODE === undefined ? [shell] : [shell, wrapped]) {
    assert.match(start.stderr(), /the starting process is gone/)
    assert.match(start.stderr(), /received fast shutdown request/)
  }
  for (const each of [folder, other]) assert.deepEqual(await leftOf(each), [])
})
