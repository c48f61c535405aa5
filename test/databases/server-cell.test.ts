// The server of a database as the machine sees it: each of its processes is without rights and behind walls, and a query
// that takes all memory harms its own database alone.
import assert from 'node:assert/strict'
import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { readTree } from '#cells/process-table.ts'
import type pg from 'pg'
import type { ControlAnswer } from '#contract/control.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { startCanary } from './canary.ts'
import { connectTo, endOf, makeDatabase, until, withClient } from './driver.ts'
import { cellOf } from './programs.ts'

product(PLAIN)

const MEMORY_BYTES = 1024 ** 3
const PROCESS_MEMORY_BYTES = 768 * 1024 ** 2
const PROCESSES = 200
const FILES = 2000
const NO_RIGHTS = '0000000000000000'
const GROUPS = '/sys/fs/cgroup'
/** A sort in memory, of twice as much as a server has. */
const GREEDY = `select count(*) from (
  select repeat(md5(n::text), 3000) as body from generate_series(1, 22000) n order by body) sorted`

let url: URL
let status: ControlAnswer<'node.status'>
before(async () => {
  url = await makeDatabase(sharedErgon(), 'walled')
  await withClient(url, (client) => client.query('create table kept as select 1 as id'))
  status = await sharedErgon().control('node.status')
})

/** The processes of a cell below its program, with the first one. */
const processesOf = (pid: number): number[] => readTree({ leader: pid }).map((entry) => entry.pid)

/** The lines of a process's status by their names. */
const statusOf = (pid: number): ReadonlyMap<string, string> =>
  new Map(
    readFileSync(`/proc/${pid}/status`, 'utf8')
      .split('\n')
      .map((line) => line.split(':\t') as [string, string]),
  )

/** A file of the control group that a process is in, of version 2 or of a controller of version 1. */
function groupFile(pid: number, controller: 'memory' | 'pids', files: { v1: string; v2: string }) {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n')
  const pathOf = (mark: string) => groups.find((line) => line.split(':')[1] === mark)?.split(':')[2]
  const old = pathOf(controller)
  const file =
    old === undefined
      ? join(GROUPS, pathOf('') ?? '', files.v2)
      : join(GROUPS, controller, old, files.v1)
  return Number(readFileSync(file, 'utf8'))
}

test('no process of a server has a right, another user, a network or the uid of another cell', async (t) => {
  const { isolation } = status
  if (isolation.level !== 'root') return t.skip(`isolation is ${isolation.level}`)
  const client = await connectTo(url)
  const ergon = sharedErgon()
  const processes = processesOf(await ergon.pidOf(cellOf(url.href)))
  await client.end()
  // Postmaster, checkpointer, writers, the launcher of autovacuum, and the session.
  assert.ok(processes.length >= 6, `${processes.length} processes`)
  const uids = new Set<string>()
  for (const pid of processes) {
    const has = statusOf(pid)
    for (const rights of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      assert.equal(has.get(rights), NO_RIGHTS, `${pid}: ${rights}`)
    assert.equal(has.get('NoNewPrivs'), '1', `${pid}`)
    if (isolation.filtersSyscalls) assert.equal(has.get('Seccomp'), '2', `${pid}`)
    uids.add(has.get('Uid') ?? '')
    for (const kind of ['net', 'mnt', 'pid', 'ipc'])
      assert.notEqual(
        readlinkSync(`/proc/${pid}/ns/${kind}`),
        readlinkSync(`/proc/self/ns/${kind}`),
        kind,
      )
    const devices = readFileSync(`/proc/${pid}/net/dev`, 'utf8').trim().split('\n').slice(2)
    assert.deepEqual(
      devices.map((line) => line.split(':')[0]?.trim()),
      ['lo'],
    )
    assert.deepEqual(readFileSync(`/proc/${pid}/net/route`, 'utf8').trim().split('\n').length, 1)
  }
  // Real, effective, saved and of files: the same, and that of no other cell.
  assert.equal(uids.size, 1)
  const [uid = '', ...rest] = new Set([...uids][0]?.split('\t'))
  assert.deepEqual(rest, [])
  const others = status.cells.filter(({ name, pid }) => name !== cellOf(url.href) && pid !== null)
  const taken = [
    0,
    ...others.map(({ pid }) =>
      Number(
        statusOf(pid ?? 0)
          .get('Uid')
          ?.split('\t')[0],
      ),
    ),
  ]
  assert.ok(others.length > 3 && !taken.includes(Number(uid)), `${uid} of ${taken.join(' ')}`)
})

test('the memory, processes and files of a server are limited from outside', async () => {
  const { isolation } = status
  const pid = await sharedErgon().pidOf(cellOf(url.href))
  for (const one of processesOf(pid)) {
    const limits = readFileSync(`/proc/${one}/limits`, 'utf8')
    assert.match(limits, new RegExp(`^Max open files +${FILES} +${FILES} `, 'm'))
    assert.match(limits, new RegExp(`^Max data size +${PROCESS_MEMORY_BYTES} `, 'm'))
    assert.match(limits, /^Max core file size +0 +0 /m)
  }
  if (isolation.memoryLimit !== 'none')
    assert.equal(
      groupFile(pid, 'memory', { v1: 'memory.limit_in_bytes', v2: 'memory.max' }),
      MEMORY_BYTES,
    )
  if (isolation.processLimit.startsWith('cgroup'))
    assert.equal(groupFile(pid, 'pids', { v1: 'pids.max', v2: 'pids.max' }), PROCESSES)
})

const takeMemory = async (client: pg.Client): Promise<string> => {
  await client.query("set work_mem = '2047MB'")
  return await client.query(GREEDY).then(
    () => 'answered',
    ({ code = 'no code' }: { code?: string }) => code,
  )
}

test('a query that takes all memory is refused, and felt by no other session', async () => {
  const beside = await connectTo(url)
  const greedy = await connectTo(url)
  assert.equal(await takeMemory(greedy), '53200')
  for (const client of [greedy, beside]) {
    assert.equal((await client.query('select from kept')).rowCount, 1)
    await client.end()
  }
})

test('queries that take all memory together end the sessions of their database with words, and no other', async (t) => {
  if (status.isolation.memoryLimit === 'none') return t.skip('memory is not limited here')
  const canary = await startCanary(sharedErgon())
  const beside = await connectTo(url)
  const ended = endOf(beside)
  const greedy = await Promise.all([1, 2, 3].map(() => connectTo(url)))
  const codes = await Promise.all(greedy.map(takeMemory))
  // One that the kernel has not chosen may have been refused before.
  for (const code of codes) assert.match(code, /^(57P02|53200)$/)
  assert.ok(codes.includes('57P02'), codes.join(' '))
  assert.equal((await ended).code, '57P02')
  await until('the database serves again', () =>
    withClient(
      url,
      async (client) => (await client.query('select from kept')).rowCount === 1,
    ).catch(() => false),
  )
  await canary.stop()
  assert.ok(canary.answers > 0)
})
