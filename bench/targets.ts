// Targets of the gateway bench: each serves chat completions on a port of 127.0.0.1 from the same upstream.
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { descendants, treeCpuUs } from './processes.ts'
import { atRest, pidsOf, startProduct } from './product.ts'

export type Target = {
  readonly name: string
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** Where it answers chat completions; /v1/chat/completions by default. */
  readonly path?: string
  /** Its own name of a model. */
  readonly modelOf?: (name: string) => string
  /** The process that answers. */
  readonly pids: readonly number[]
  /** CPU of everything that works for it, later work included, in microseconds. */
  totalCpuUs(): number
  /** Resolves when nothing of what it was asked is still being worked on. */
  quiet(): Promise<void>
  close(): Promise<void>
}

/** The npm packages of peers; not part of the product. */
export const PEERS = fileURLToPath(new URL('./peers', import.meta.url))
const READY_MAX_MS = 60_000

/** A server of bench/servers, in a process of its own. */
export async function startServer(name: string, file: string, upstream?: number): Promise<Target> {
  const path = fileURLToPath(new URL(`./servers/${file}`, import.meta.url))
  const child = fork(path, upstream === undefined ? [] : [String(upstream)])
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message: { port: number }) => resolve(message.port))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
  return ofProcess({ name, port, headers: {}, child })
}

/** The product with the upstream as models `fast` and `paced`; the account cannot run out of money. */
export async function startErgonTarget(upstream: number): Promise<Target> {
  const ergon = await startProduct()
  for (const name of ['fast', 'paced'])
    await ergon.control('model.add', {
      upstream: `http://127.0.0.1:${upstream}/v1`,
      name,
      upstream_model: name,
      // The figures of a double must not look like a measurement: one nanojoule a token.
      nj_per_token: '1',
    })
  await ergon.control('funds.add', { account: ergon.account, pusd: '1000000000000000' })
  return {
    name: 'Ergon',
    port: ergon.port,
    headers: { Authorization: `Bearer ${ergon.token}` },
    pids: pidsOf(ergon.pid, 'gateway'),
    totalCpuUs: () => treeCpuUs(ergon.pid),
    quiet: () => atRest(ergon.pid),
    close: () => ergon.stop(),
  }
}

/**
 * Portkey's gateway, installed at first use. A plain install streams nothing but 500s: it resolves to a
 * @hono/node-server that it does not work with, so peers/package.json overrides that.
 */
export async function startPortkey(upstream: number): Promise<Target> {
  const script = join(PEERS, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  if (!existsSync(script)) installPeers()
  const port = await freePort()
  const child = spawn(process.execPath, [script, `--port=${port}`, '--headless'], {
    cwd: PEERS,
    stdio: 'ignore',
  })
  await answering(port, child)
  const headers = {
    Authorization: 'Bearer sk-x',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstream}/v1`,
  }
  return ofProcess({ name: 'Portkey 1.15.2', port, headers, child })
}

export function installPeers(): void {
  process.stderr.write('bench: installing the peers into bench/peers …\n')
  const flags = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  const done = spawnSync('npm', ['install', ...flags, '--loglevel=error'], {
    cwd: PEERS,
    stdio: ['ignore', 2, 2],
  })
  if (done.status !== 0) throw new Error('Could not install the peers')
}

/** A target of one process and its children. */
export function ofProcess(
  given: Pick<Target, 'name' | 'port' | 'headers'> & { child: ChildProcess },
) {
  const { child, ...target } = given
  const pid = child.pid ?? 0
  return {
    ...target,
    pids: descendants(pid).map((one) => one.pid),
    totalCpuUs: () => treeCpuUs(pid),
    quiet: async () => undefined,
    close: async () => {
      if (child.connected) child.disconnect()
      else child.kill('SIGTERM')
    },
  }
}

/** A port that nothing listened on a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

/** Resolves when it listens on the port; rejects when it has ended. */
export async function answering(port: number, child: ChildProcess): Promise<void> {
  const lastMs = performance.now() + READY_MAX_MS
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > lastMs)
      throw new Error(`Nothing listens on port ${port}`)
    await pause(50)
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
