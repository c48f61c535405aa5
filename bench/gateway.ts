// The gateway against a bare node:http proxy, a node:http + undici proxy, Portkey, TensorZero and LiteLLM. All are in
// front of one upstream, and take turns within each round, so that other load of the machine meets all of them.
//
// The work of the targets differs on purpose: the proxies pass a request on and count nothing. Ergon checks the token,
// admits, parses and checks the body and the answer, counts the tokens, journals the charge before the figures leave,
// and posts and seals it.
import { LITELLM, startLitellm } from './litellm.ts'
import {
  postRequest,
  startLoadClient,
  WARM_UP_SHARE,
  type LoadClient,
  type LoadResult,
} from './load.ts'
import { cpuUs } from './processes.ts'
import { median, type Bar, type Section, type Table } from './report.ts'
import { startErgonTarget, startPortkey, startServer, type Target } from './targets.ts'
import { startTensorzero, TENSORZERO } from './tensorzero.ts'

const CONNECTIONS = 32
const ROUNDS = { whole: 5, quick: 3 }
// A target is cold after the turns of the others, and the posts and seals of a short round come after its end. In rounds
// of 1 s streams took twice the CPU, and JSON was 0.42 of the pipe instead of 0.23.
const SECONDS = 3
// V8 optimises what has run often: before that a request costs several times as much CPU. So each target
// answers so many of a kind before it is timed; seconds would leave the slowest ones cold.
const WARM_UP_REQUESTS = 10_000
const WARM_UP_SECONDS = 2.5
const WARM_UPS_MAX = 8

export type Cell = {
  readonly name: string
  readonly tokens: number
  readonly model: string
  readonly stream: boolean
}
export const CELLS: readonly Cell[] = [
  { name: 'JSON, 8 tokens', tokens: 8, model: 'fast', stream: false },
  { name: 'SSE, 50 chunks at once', tokens: 50, model: 'fast', stream: true },
  { name: 'SSE, 50 chunks one by one', tokens: 50, model: 'paced', stream: true },
]
const PIPE = 'node:http pipe'
const PORTKEY = 'Portkey 1.15.2'

type Run = LoadResult & {
  readonly rate: number
  /** CPU of the process that answers, per request. */
  readonly serverUs: number
  /** CPU of everything that works for the target, per request, until it is at rest again. */
  readonly totalUs: number
}

/** The short run leaves out the peers of other makers. */
export async function runGateway(isQuick = false): Promise<Section> {
  const client = startLoadClient()
  const mock = await startServer('upstream alone', 'mock-upstream.ts')
  const started: Target[] = [mock]
  try {
    started.push(await startServer(PIPE, 'pipe-proxy.ts', mock.port))
    started.push(await startServer('node:http + undici', 'undici-proxy.ts', mock.port))
    started.push(await startErgonTarget(mock.port))
    if (!isQuick) started.push(await startPortkey(mock.port))
    const models = [...new Set(CELLS.map(({ model }) => model))]
    if (!isQuick)
      for (const peer of [
        await orLeftOut(TENSORZERO, startTensorzero(mock.port, models)),
        await orLeftOut(LITELLM, startLitellm(mock.port, models)),
      ])
        if (peer !== undefined) started.push(peer)
    for (const target of started) for (const cell of CELLS) await prove(target, cell)
    const measured = new Map<string, Map<string, Run[]>>()
    const times = isQuick ? ROUNDS.quick : ROUNDS.whole
    for (const cell of CELLS) measured.set(cell.name, await rounds(client, started, cell, times))
    return sectionOf(measured)
  } finally {
    client.close()
    for (const target of started.toReversed()) await target.close()
  }
}

/** A peer that cannot be installed is left out, and the page does not name it. */
async function orLeftOut(name: string, starting: Promise<Target>): Promise<Target | undefined> {
  try {
    return await starting
  } catch (error) {
    process.stderr.write(`bench: ${name} is left out: ${String(error)}\n`)
    return undefined
  }
}

async function rounds(
  client: LoadClient,
  targets: readonly Target[],
  cell: Cell,
  times: number,
): Promise<Map<string, Run[]>> {
  const runs = new Map<string, Run[]>(targets.map(({ name }) => [name, []]))
  // LiteLLM is a hundredth as fast and works on for seconds: the others would stand still, and grow cold.
  const slow = targets.filter(({ name }) => name === LITELLM)
  for (const together of [targets.filter((target) => !slow.includes(target)), slow]) {
    for (const target of together) await warmUp(client, target, cell)
    for (let round = 0; round < times; round++) {
      process.stderr.write(`bench: ${cell.name}: round ${round + 1} of ${times}\n`)
      for (const target of together)
        runs.get(target.name)?.push(await measure(client, target, cell, SECONDS))
    }
  }
  return runs
}

async function warmUp(client: LoadClient, target: Target, cell: Cell): Promise<void> {
  let requests = 0
  for (let times = 0; requests < WARM_UP_REQUESTS && times < WARM_UPS_MAX; times++)
    requests += (await measure(client, target, cell, WARM_UP_SECONDS)).requests
}

async function measure(
  client: LoadClient,
  target: Target,
  cell: Cell,
  seconds: number,
): Promise<Run> {
  const ownUs = () => target.pids.reduce((sum, pid) => sum + cpuUs(pid), 0)
  await target.quiet()
  const totalBefore = target.totalCpuUs()
  let ownBefore = 0
  const result = await client.run(
    {
      port: target.port,
      request: requestOf(target, cell),
      connections: CONNECTIONS,
      seconds,
      bytesMin: cell.stream ? cell.tokens * 100 : 200,
    },
    () => (ownBefore = ownUs()),
  )
  const serverUs = (ownUs() - ownBefore) / result.requests
  await target.quiet()
  if (result.failures > 0)
    throw new Error(
      `${target.name} failed ${result.failures} requests of "${cell.name}": ${JSON.stringify(result.reasons)}`,
    )
  // The total includes requests that ran before the count, or still ran at its end.
  const answered = result.requests * (1 + WARM_UP_SHARE) + CONNECTIONS
  const totalUs = (target.totalCpuUs() - totalBefore) / answered
  return { ...result, rate: result.requests / result.seconds, serverUs, totalUs }
}

const bodyOf = ({ modelOf }: Target, { tokens, model, stream }: Cell) => ({
  model: modelOf?.(model) ?? model,
  messages: [
    { role: 'system', content: 'You are a terse assistant.' },
    { role: 'user', content: 'Say how many joules it takes to boil a litre of water.' },
  ],
  max_tokens: tokens,
  ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
})

export const requestOf = (target: Target, cell: Cell): string =>
  postRequest(pathOf(target), target.headers, bodyOf(target, cell))

const pathOf = ({ path = '/v1/chat/completions' }: Target): string => path

/** Each target must give the whole answer before it is timed. */
async function prove(target: Target, cell: Cell): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${target.port}${pathOf(target)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...target.headers },
    body: JSON.stringify(bodyOf(target, cell)),
  })
  const text = await response.text()
  const words = text.split('joule').length - 1
  const ended = !cell.stream || text.includes('data: [DONE]')
  if (response.status !== 200 || words !== cell.tokens || !ended)
    throw new Error(`${target.name}, "${cell.name}": ${response.status} ${text.slice(0, 500)}`)
}

/** A target that ends no request within a round has no figures of one. */
const figure = (value: number, digits: number): string =>
  Number.isFinite(value) ? value.toFixed(digits) : '–'

function sectionOf(measured: ReadonlyMap<string, ReadonlyMap<string, readonly Run[]>>): Section {
  const ratio = (cell: string, over: string, under: string) => {
    const [a = [], b = []] = [measured.get(cell)?.get(over), measured.get(cell)?.get(under)]
    return median(a.map((run, round) => run.rate / (b[round]?.rate ?? Number.NaN)))
  }
  /** CPU over that of the pipe, which is one process. */
  const cpuRatio = (cell: string, name: string, cpuOf: (run: Run) => number) => {
    const [a = [], b = []] = [measured.get(cell)?.get(name), measured.get(cell)?.get(PIPE)]
    return median(a.map((run, round) => cpuOf(run) / (b[round]?.serverUs ?? Number.NaN)))
  }
  const table = ([cell, runs]: [string, ReadonlyMap<string, readonly Run[]>]): Table => ({
    caption: cell,
    columns: [
      'target',
      'requests/s',
      '÷ pipe',
      '÷ Portkey',
      'CPU µs/request',
      '÷ pipe',
      'CPU µs/request, all processes',
      '÷ pipe',
      'p50 ms',
      'p99 ms',
    ],
    rows: [...runs].map(([name, all]) => [
      name,
      figure(median(all.map((run) => run.rate)), 0),
      figure(ratio(cell, name, PIPE), 2),
      figure(ratio(cell, name, PORTKEY), 2),
      figure(median(all.map((run) => run.serverUs)), 0),
      figure(
        cpuRatio(cell, name, (run) => run.serverUs),
        1,
      ),
      figure(median(all.map((run) => run.totalUs)), 0),
      figure(
        cpuRatio(cell, name, (run) => run.totalUs),
        1,
      ),
      figure(median(all.map((run) => run.p50Ms)), 1),
      figure(median(all.map((run) => run.p99Ms)), 1),
    ]),
  })
  const bars: Bar[] = [...measured.keys()].flatMap((cell) => [
    {
      what: `${cell}: ÷ node:http pipe`,
      value: ratio(cell, 'Ergon', PIPE),
      least: cell.startsWith('JSON') ? 0.85 : 1,
      digits: 2,
    },
    ...(measured.get(cell)?.has(PORTKEY)
      ? [
          {
            what: `${cell}: ÷ Portkey`,
            value: ratio(cell, 'Ergon', PORTKEY),
            least: 8,
            digits: 1,
          },
        ]
      : []),
  ])
  return {
    name: 'gateway',
    title: 'Gateway',
    bars,
    tables: [...measured].map(table),
    notes: [
      `${CONNECTIONS} keep-alive connections in a closed loop, ${ROUNDS.whole} rounds of ${SECONDS} s per target, targets by turns (LiteLLM after them). Each round begins after ${WARM_UP_REQUESTS} requests of the kind (or ${WARM_UPS_MAX * WARM_UP_SECONDS} s of them). Figures are medians over the rounds. A ratio is the median of the ratios within a round. Load, target and upstream share the machine.`,
      'The proxies, Portkey and TensorZero neither check a token nor count anything. LiteLLM, without its database, checks one key and counts nothing that lasts. Ergon authenticates, admits against a lease, checks and meters the answer, writes the charge to its journal before the figures leave, posts it to the ledger and seals it into the log. The last CPU column holds all of that, for every process, until the product is at rest again.',
    ],
  }
}
