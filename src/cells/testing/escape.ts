// All that attempts to leave a cell look for, put outside of it; and the attempts that succeed where nothing holds them.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { invariant } from '#base/errors.ts'
import type { CellOutlet } from '#cells/cell.ts'
import { OWN_ARCHITECTURE, syscallNumbers } from '#cells/syscalls/numbers.ts'
import { runInheriting } from './run-once.ts'

export type PutOutside = {
  /** The arguments of the probes. */
  readonly words: readonly string[]
  readonly canary: string
  /** The folder of programs with privileges, which a test shows its cells or puts into their image. */
  readonly programs: string
  readonly folder: string
  readonly outlet: CellOutlet
}

export const PROBES = join(import.meta.dirname, 'escape-probes.pl')
const DEVICE_EVENT = '/sys/class/mem/null/uevent'
const TELL_MS = 100
const O_CREAT = 0o100
const SHARED_MEMORY = String(process.pid)
const run = promisify(execFile)

/** It is there until the test ends. */
export async function putOutside(t: TestContext): Promise<PutOutside> {
  const folder = mkdtempSync(join(tmpdir(), 'outside-'))
  t.after(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  const data = join(folder, 'data')
  mkdirSync(data)
  const canary = join(data, 'canary')
  writeFileSync(canary, 'secret')
  const memory = await run('perl', ['-e', `print shmget(${SHARED_MEMORY}, 10, 01666)`])
  t.after(() => run('perl', ['-e', `shmctl(${memory.stdout}, 0, 0)`]))
  const queue = `ergon-${process.pid}`
  const calls = syscallNumbers(OWN_ARCHITECTURE)
  await callKernel(calls.get('mq_open'), `'${queue}', ${O_CREAT}, 0666, 0`)
  t.after(() => callKernel(calls.get('mq_unlink'), `'${queue}'`))
  const programs = join(folder, 'programs')
  await makePrivileged(programs)
  tellDevices(t)
  const socket = join(folder, 's')
  const abstract = `ergon-${process.pid}`
  const server = await listenOn(t, 0, '0.0.0.0')
  const { port } = server.address() as AddressInfo
  await listenOn(t, socket)
  await listenOn(t, `\0${abstract}`)
  const named = { canary, port, socket, abstract, queue, pid: process.pid, shm: SHARED_MEMORY }
  const words = [
    ...Object.entries(named).map(([name, value]) => `${name}=${value}`),
    ...privilegedIn(programs),
    ...Array.from(calls, ([name, number]) => `call.${name}=${number}`),
  ]
  const ports = [{ port: 3128, refusal: '' }]
  return { words, canary, programs, folder, outlet: { socket, ticket: 'ticket', ports, hosts: [] } }
}

const PRIVILEGED = { setuid: 0o4755, setgid: 0o2755, capable: 0o755 }

/** The arguments that name programs with privileges in a folder. */
export const privilegedIn = (folder: string): readonly string[] =>
  Object.keys(PRIVILEGED).map((name) => `${name}=${join(folder, name)}`)

/** Copies of cat(1) that have the user, the group or a capability of root. */
async function makePrivileged(folder: string): Promise<void> {
  mkdirSync(folder)
  for (const [name, mode] of Object.entries(PRIVILEGED)) {
    const path = join(folder, name)
    cpSync('/bin/cat', path, { dereference: true })
    chmodSync(path, mode)
  }
  const capable = join(folder, 'capable')
  // struct vfs_cap_data of version 2, effective: CAP_DAC_READ_SEARCH.
  await callKernel(
    syscallNumbers(OWN_ARCHITECTURE).get('setxattr'),
    `'${capable}', 'security.capability', pack('L5', 0x02000001, 4, 0, 0, 0), 20, 0`,
  )
}

/** Perl can call the kernel. Strings are those of perl. */
const callKernel = (number: number | undefined, words: string) =>
  run('perl', ['-e', `my @words = (${words}); exit(syscall(${number}, @words) < 0)`])

/** The kernel tells of a change of the device /dev/null, which does not change. */
function tellDevices(t: TestContext): void {
  const timer = setInterval(() => writeFileSync(DEVICE_EVENT, 'change'), TELL_MS)
  t.after(() => clearInterval(timer))
}

async function listenOn(
  t: TestContext,
  ...where: [path: string] | [port: number, host: string]
): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  server.listen(...(where as [number, string]))
  await once(server, 'listening')
  t.after(() => server.close())
  return server
}

/** The probes that succeed outside, as root of the machine. */
export async function provenOutside({ words, canary }: PutOutside): Promise<readonly string[]> {
  // The name of the machine is changed in a namespace of its own.
  const command = ['unshare', '--mount', '--uts', '--', 'perl', PROBES, ...words]
  return succeededOf(await runInheriting(command, canary))
}

/** The names that the probes have printed. Throws where they have not all been tried. */
export function succeededOf(output: string): readonly string[] {
  const lines = output.trim().split('\n')
  invariant(/^\d+ probes$/.test(lines.at(-1) ?? ''), 'All probes were tried')
  return lines.slice(0, -1)
}
