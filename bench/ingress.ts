// The ingress against a bare node:http + undici proxy, fast-proxy, nginx and Caddy, in front of one server on a unix socket.
// They take turns within each round: what else the machine does meets all of them.
import { fork, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { INGRESS } from '#ingress/ingress-cell.ts'
import { serveAgent } from '#node/agent-socket/serve-agent.ts'
import { startLoadClient, type LoadClient } from './load.ts'
import { median, type Bar, type Section } from './report.ts'
import { freePort, installPeers, ofProcess, PEERS, type Target } from './targets.ts'
import { cpuUs, descendants } from './processes.ts'

const CONNECTIONS = 32
const ROUNDS = 7
const SECONDS = 1.5
const WARM_UPS = 2
const PAGES = ['/1k', '/64k'] as const
const BARE = 'node:http + undici'
const OURS = 'Ergon ingress'
const SECRET = 'secret-of-a-bench'

type Run = { readonly rate: number; readonly us: number }

export async function runIngress(isQuick = false): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-bench-ingress-'))
  const client = startLoadClient()
  const started: Target[] = []
  const socket = join(folder, 'upstream')
  const upstream = forked('unix-upstream.ts', [socket])
  await upstream.listening
  const agentSocket = join(folder, 'agent')
  const agent = await serveAgent({ socketPath: agentSocket, secret: SECRET }, (request) =>
    request.say({ address: `unix:${socket}`, cell: 'fn-bench-1' }),
  )
  try {
    started.push(await startForked(BARE, 'unix-undici-proxy.ts', [socket]))
    const port = String(await freePort())
    const words = [agentSocket, SECRET, port]
    started.push(await startForked(OURS, 'ingress-server.ts', words, INGRESS.flags))
    if (!existsSync(join(PEERS, 'node_modules/fast-proxy'))) installPeers()
    started.push(await startForked('fast-proxy', 'fast-proxy.ts', [socket, PEERS]))
    started.push(...(await startPeers(folder, socket)))
    return sectionOf(await measured(client, started, isQuick))
  } finally {
    client.close()
    for (const target of started) await target.close()
    upstream.child.disconnect()
    await agent.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function forked(file: string, words: readonly string[], flags: readonly string[] = []) {
  const path = fileURLToPath(new URL(`./servers/${file}`, import.meta.url))
  const child = fork(path, [...words], { execArgv: [...flags] })
  const listening = new Promise<number>((resolve, reject) => {
    child.once('message', (message: { port: number }) => resolve(message.port))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
  return { child, listening }
}

async function startForked(
  name: string,
  file: string,
  words: readonly string[],
  flags: readonly string[] = [],
): Promise<Target> {
  const { child, listening } = forked(file, words, flags)
  return ofProcess({ name, port: await listening, headers: {}, child })
}

/** Those that are installed. */
async function startPeers(folder: string, socket: string): Promise<Target[]> {
  const [nginxPort, ...caddyPorts] = [await freePort(), await freePort(), await freePort()]
  const nginxFile = join(folder, 'nginx.conf')
  writeFileSync(
    nginxFile,
    `daemon off; pid ${folder}/nginx.pid; error_log /dev/null; worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  upstream instance { server unix:${socket}; keepalive 64; }
  server { listen 127.0.0.1:${nginxPort}; keepalive_requests 100000000;
    location / { proxy_pass http://instance; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host; } } }
`,
  )
  const caddyOf = (name: string, port: number, own: NodeJS.ProcessEnv) => {
    const file = join(folder, `Caddyfile-${port}`)
    writeFileSync(
      file,
      `{\n  admin off\n  auto_https off\n}\nhttp://localhost:${port} {\n  reverse_proxy unix/${socket}\n}\n`,
    )
    const argv = ['caddy', 'run', '--config', file, '--adapter', 'caddyfile']
    return { name, port, argv, own }
  }
  const [caddyPort = 0, onePort = 0] = caddyPorts
  const peers = [
    { name: 'nginx', port: nginxPort, argv: ['nginx', '-c', nginxFile, '-p', folder], own: {} },
    caddyOf('Caddy', caddyPort, {}),
    // One thread, as the ingress has: how much of its rate is its second processor.
    caddyOf('Caddy, GOMAXPROCS=1', onePort, { GOMAXPROCS: '1' }),
  ]
  const running: Target[] = []
  for (const { name, port, argv, own } of peers) {
    const [program = '', ...words] = argv
    const child = spawn(program, words, {
      stdio: 'ignore',
      env: { ...process.env, HOME: folder, ...own },
    })
    const isThere = await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false))
      child.once('spawn', () => resolve(true))
    })
    if (!isThere) process.stderr.write(`bench: ${name} is left out: it is not installed\n`)
    else {
      await answers(port)
      running.push(ofProcess({ name, port, headers: {}, child }))
    }
  }
  return running
}

async function answers(port: number): Promise<void> {
  for (let nth = 0; nth < 100; nth++) {
    const answer = await fetch(`http://localhost:${port}/1k`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.status === 200) return
    await pause(100)
  }
  throw new Error(`Nothing answers on port ${port}`)
}

async function measured(
  client: LoadClient,
  targets: readonly Target[],
  isQuick: boolean,
): Promise<Map<string, Run[]>> {
  const runs = new Map<string, Run[]>()
  const seconds = isQuick ? 0.5 : SECONDS
  for (const page of PAGES) {
    for (const target of targets)
      for (let nth = 0; nth < WARM_UPS; nth++) await measure(client, target, page, seconds)
    for (let round = 0; round < (isQuick ? 3 : ROUNDS); round++)
      for (const target of targets) {
        const key = `${target.name} ${page}`
        const run = await measure(client, target, page, seconds)
        runs.set(key, [...(runs.get(key) ?? []), run])
      }
  }
  return runs
}

async function measure(
  client: LoadClient,
  { name, port, pids }: Target,
  page: string,
  seconds: number,
): Promise<Run> {
  // nginx starts its worker later.
  const all = () => [...new Set(pids.flatMap((pid) => descendants(pid).map((one) => one.pid)))]
  const spent = () => all().reduce((sum, pid) => sum + cpuUs(pid), 0)
  const request = `GET ${page} HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: */*\r\nUser-Agent: bench\r\n\r\n`
  let before = 0
  const result = await client.run(
    { port, request, connections: CONNECTIONS, seconds, bytesMin: page === '/1k' ? 1024 : 65_536 },
    () => (before = spent()),
  )
  const us = (spent() - before) / result.requests
  if (result.failures > 0) throw new Error(`${name} failed ${result.failures} requests`)
  return { rate: result.requests / result.seconds, us }
}

function sectionOf(runs: ReadonlyMap<string, readonly Run[]>): Section {
  const of = (name: string, page: string) => runs.get(`${name} ${page}`) ?? []
  /** The median of the ratios, each of two rates of one round. */
  const ratio = (name: string, page: string, to = BARE) =>
    median(of(name, page).map(({ rate }, nth) => rate / (of(to, page)[nth]?.rate ?? Number.NaN)))
  const names = [...new Set([...runs.keys()].map((key) => key.slice(0, key.lastIndexOf(' '))))]
  const bars: Bar[] = PAGES.flatMap((page) => [
    { what: `${page}: rate, of ${BARE}`, value: ratio(OURS, page), least: 0.9, digits: 2 },
    ...(names.includes('Caddy')
      ? [
          {
            what: `${page}: rate, of Caddy`,
            value: ratio(OURS, page, 'Caddy'),
            least: 1,
            digits: 2,
          },
        ]
      : []),
  ])
  const rows = PAGES.flatMap((page) =>
    names.map((name) => [
      page,
      name,
      median(of(name, page).map(({ rate }) => rate)).toFixed(0),
      ratio(name, page).toFixed(2),
      median(of(name, page).map(({ us }) => us)).toFixed(0),
    ]),
  )
  return {
    name: 'ingress',
    title: 'Ingress',
    bars,
    tables: [
      {
        caption: `${CONNECTIONS} kept connections, one server on a unix socket behind`,
        columns: ['page', 'proxy', 'requests/s', `of ${BARE}`, 'CPU µs a request'],
        rows,
      },
    ],
    notes: [
      'The bare proxy passes on and checks nothing. The ingress finds the route, takes a turn, limits the time, filters headers both ways and can be listening to end each request.',
    ],
  }
}
