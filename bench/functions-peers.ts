// The peers of the bench of functions: node alone, workerd and podman, each with the same module.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { descendants, pssMib, treeCpuUs } from './processes.ts'
import { freePort, installPeers, PEERS } from './targets.ts'

const SERVER = fileURLToPath(new URL('./servers/hello-server.mjs', import.meta.url))
const WORKERD = join(PEERS, 'node_modules/@cloudflare/workerd-linux-64/bin/workerd')
const START_MAX_MS = 30_000
const LOOK_MS = 1

export type Peer = {
  readonly name: string
  /** The command that serves the module on a port. */
  readonly argvOf: (port: number) => readonly string[]
  /** Its processes are below the one that is started. */
  readonly isTree: boolean
}

export type Started = {
  /** The time from the start of the process to the first answer. */
  readonly ms: number
  readonly port: number
  readonly cpuMs: number
  readonly mib: number
  close(): Promise<void>
}

/** Those that can be on this machine. */
export function findPeers(folder: string, source: string): Peer[] {
  const file = join(folder, 'hello.mjs')
  writeFileSync(file, source)
  const node: Peer = {
    name: 'node child',
    argvOf: (port) => [process.execPath, SERVER, file, String(port)],
    isTree: true,
  }
  return [node, workerdOf(folder), ...podmanOf(folder, source)]
}

function workerdOf(folder: string): Peer {
  if (!existsSync(WORKERD)) installPeers()
  const argvOf = (port: number) => {
    const config = join(folder, `workerd-${port}.capnp`)
    writeFileSync(
      config,
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .hello)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]);
const hello :Workerd.Worker = (
  modules = [(name = "hello.mjs", esModule = embed "hello.mjs")], compatibilityDate = "2026-11-01");
`,
    )
    return [WORKERD, 'serve', config]
  }
  return { name: 'workerd', argvOf, isTree: true }
}

/** A container of Node.js and the same server, in the network of the machine. */
function podmanOf(folder: string, source: string): Peer[] {
  const root = join(folder, 'image')
  mkdirSync(root)
  makeImageRoot(root, [process.execPath], {
    'app/server.mjs': readFileSync(SERVER, 'utf8'),
    'app/hello.mjs': source,
  })
  const [program, ...words] = [
    'podman',
    ...RUNTIME,
    'run',
    '--rm',
    '--network=host',
    ...LIMITS,
    '--rootfs',
    root,
  ]
  const tried = spawnSync(program, [...words, process.execPath, '--version'], { encoding: 'utf8' })
  if (tried.status !== 0) {
    const why = tried.error?.message ?? tried.stderr.trim().split('\n').at(-1)
    process.stderr.write(`bench: podman is left out: ${why}\n`)
    return []
  }
  const serve = [process.execPath, '/app/server.mjs', '/app/hello.mjs']
  return [
    {
      name: 'podman',
      argvOf: (port) => [program, ...words, ...serve, String(port)],
      isTree: false,
    },
  ]
}

/** crun, which podman chooses by itself, refuses control groups of both versions side by side. */
const RUNTIME = ['/usr/sbin/runc', '/usr/bin/runc']
  .filter((path) => existsSync(path))
  .slice(0, 1)
  .flatMap((path) => ['--runtime', path])
/** Those that podman sets by itself are more than a session may have that is limited. */
const LIMITS = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=512:512']

/** Starts a peer, and waits for its first answer. */
export async function startPeer({ argvOf, name, isTree }: Peer): Promise<Started> {
  const port = await freePort()
  const [program = '', ...words] = argvOf(port)
  const beganMs = performance.now()
  const child = spawn(program, words, { stdio: 'ignore' })
  await firstAnswer(port, child, name)
  const ms = performance.now() - beganMs
  const pid = child.pid ?? 0
  const all = isTree ? descendants(pid) : []
  return {
    ms,
    port,
    cpuMs: isTree ? treeCpuUs(pid) / 1000 : Number.NaN,
    mib: isTree ? all.reduce((sum, one) => sum + (pssMib(one.pid) ?? 0), 0) : Number.NaN,
    async close() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      // podman hands the signal on, and Node ends by it.
      await Promise.race([ended, pause(5000).then(() => child.kill('SIGKILL'))])
    },
  }
}

async function firstAnswer(port: number, child: ChildProcess, name: string): Promise<void> {
  const lastMs = performance.now() + START_MAX_MS
  while (!(await isAnswered(port))) {
    if (child.exitCode !== null || performance.now() > lastMs)
      throw new Error(`${name} does not answer`)
    await pause(LOOK_MS)
  }
}

/** One request on a connection of its own. */
export const isAnswered = (port: number, path = '/'): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    let text = ''
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(/^HTTP\/1\.1 200.*hello$/s.test(text)))
    socket.on('data', (bytes) => (text += bytes.toString('latin1')))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`)
  })
