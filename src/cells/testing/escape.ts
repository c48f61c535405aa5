// All that attempts to leave a cell look for, put outside of it; and the attempts that succeed where nothing holds them.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
  readonly folder: string
  readonly outlet: CellOutlet
}

export const PROBES = join(import.meta.dirname, 'escape-probes.pl')
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
  const socket = join(folder, 's')
  const abstract = `ergon-${process.pid}`
  const server = await listenOn(t, 0, '0.0.0.0')
  const { port } = server.address() as AddressInfo
  await listenOn(t, socket)
  await listenOn(t, `\0${abstract}`)
  const calls = syscallNumbers(OWN_ARCHITECTURE)
  const named = { canary, port, socket, abstract, pid: process.pid, shm: SHARED_MEMORY }
  const words = [
    ...Object.entries(named).map(([name, value]) => `${name}=${value}`),
    ...Array.from(calls, ([name, number]) => `call.${name}=${number}`),
  ]
  const ports = [{ port: 3128, refusal: '' }]
  return { words, canary, folder, outlet: { socket, ticket: 'ticket', ports, hosts: [] } }
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
