// No attempt to leave a tenant's cell succeeds, at any level that admits tenants, in the root folder of programs and in that of
// an image. Each attempt is first seen to succeed where nothing holds it, so a probe that can never succeed counts for nothing.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { CellOutlet } from '#cells/cell.ts'
import { CONDITIONAL, DENIED } from '#cells/syscalls/denied.ts'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { runApart, runInheriting, type RunOptions } from '#cells/testing/run-once.ts'

const PROBES = join(import.meta.dirname, '../testing/escape-probes.pl')
const PROVEN_MIN = 60
const column = process.arch === 'arm64' ? 1 : 0
const SHARED_MEMORY = String(process.pid)
const ROOT = { skip: process.getuid?.() === 0 ? false : 'needs root' }
/** Calls that tenants may make, with other arguments than those of the probes. */
const ALLOWED: Readonly<Record<string, readonly [number, number]>> = {
  exit_group: [231, 94],
  mknodat: [259, 33],
  pidfd_open: [434, 434],
  prlimit64: [302, 261],
  setgroups: [116, 159],
  clone: [CONDITIONAL.clone.x64, CONDITIONAL.clone.arm64],
}

/** Puts outside of the cell all that the probes look for; gives the words that name it. */
async function putOutside(
  t: TestContext,
): Promise<{ words: string[]; canary: string; folder: string; outlet: CellOutlet }> {
  const folder = mkdtempSync(join(tmpdir(), 'outside-'))
  t.after(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  const data = join(folder, 'data')
  mkdirSync(data)
  const canary = join(data, 'canary')
  writeFileSync(canary, 'secret')
  const open = async (...where: [string] | [number, string]): Promise<Server> => {
    const server = createServer((socket) => socket.destroy())
    server.listen(...(where as [number, string]))
    await once(server, 'listening')
    t.after(() => server.close())
    return server
  }
  const socket = join(folder, 's')
  const abstract = `ergon-${process.pid}`
  const { port } = (await open(0, '0.0.0.0')).address() as AddressInfo
  await open(socket)
  await open(`\0${abstract}`)
  const calls = Object.entries({ ...DENIED, ...ALLOWED }).flatMap(([name, numbers]) =>
    numbers[column] === undefined ? [] : [`call.${name}=${numbers[column]}`],
  )
  const named = { canary, port, socket, abstract, pid: process.pid, shm: SHARED_MEMORY }
  const words = Object.entries(named).map(([name, value]) => `${name}=${value}`)
  const ports = [{ port: 3128, refusal: '' }]
  const outlet = { socket, ticket: 'ticket', ports, hosts: [] }
  return { words: [...words, ...calls], canary, folder, outlet }
}

const run = promisify(execFile)

/** The probes that succeed outside, as root of the machine. */
async function provenOutside(words: readonly string[], canary: string): Promise<string[]> {
  // The name of the machine is changed in a namespace of its own.
  const command = ['unshare', '--mount', '--uts', '--', 'perl', PROBES, ...words]
  const told = await runInheriting(command, canary)
  return told.trim().split('\n').slice(0, -1)
}

test('no attempt to leave a cell succeeds, at the levels root and userns', ROOT, async (t) => {
  const made = await run('perl', ['-e', `print shmget(${SHARED_MEMORY}, 10, 01666)`])
  t.after(() => run('perl', ['-e', `shmctl(${made.stdout}, 0, 0)`]))
  const { words, canary, folder, outlet } = await putOutside(t)
  const proven = await provenOutside(words, canary)
  assert.ok(proven.length >= PROVEN_MIN, `only ${proven.length} succeed outside`)
  const image = join(folder, 'image')
  makeImageRoot(image, ['/usr/bin/perl'], { 'probes.pl': readFileSync(PROBES, 'utf8') })
  const cells: Omit<RunOptions, 'level'>[] = [
    { argv: ['/usr/bin/perl', PROBES, ...words], root: { outlet }, reads: [dirname(PROBES)] },
    {
      argv: ['/usr/bin/perl', PROBES, ...words],
      root: { outlet },
      reads: [dirname(PROBES)],
      inSpare: true,
    },
    { argv: ['perl', '/probes.pl', ...words], root: { image, outlet, user: { uid: 0, gid: 0 } } },
  ]
  for (const level of ['root', 'userns'] as const)
    for (const cell of cells) {
      const { lines, exit } = await runApart({ ...cell, level }, canary)
      assert.equal(exit?.code, 0)
      assert.match(lines.at(-1) ?? '', /^\d+ probes$/)
      assert.deepEqual(lines.slice(0, -1), [], level)
    }
})
