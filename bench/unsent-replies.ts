// The cost of counting unsent replies (src/http/unsent-replies.ts). A server of node:http counts its replies or does not,
// by turns. The difference is set against the CPU of a gateway of the product for a small reply.
import { startLoadClient, type LoadClient } from './load.ts'
import { cpuUs } from './processes.ts'
import { pidsOf, startProduct } from './product.ts'
import { median, type Section } from './report.ts'
import { startServer } from './targets.ts'

const TURNS = 24
const SECONDS = 1
const CONNECTIONS = 16
const SHARE_PCT_MAX = 1
const KIB = 1024
/** The first leaves in one write. The kernel takes a part of the second, and the rest waits. */
const LENGTHS = [4 * KIB, KIB * KIB]
const FORMS = ['plain', 'counted'] as const

/** CPU of the server for a reply, in microseconds. */
type Cost = Readonly<Record<(typeof FORMS)[number], readonly number[]>>

export async function runUnsentReplies(): Promise<Section> {
  const client = startLoadClient()
  const server = await startServer('server', 'unsent-replies-server.ts')
  try {
    const costs = new Map<number, Cost>()
    for (const length of LENGTHS) costs.set(length, await costOf(client, server.port, length))
    return sectionOf(costs, await gatewayUs(client))
  } finally {
    client.close()
    await server.close()
  }
}

async function costOf(client: LoadClient, port: number, length: number): Promise<Cost> {
  const cpu = async () => Number(await (await fetch(`http://127.0.0.1:${port}/cpu`)).text())
  const found: Record<(typeof FORMS)[number], number[]> = { plain: [], counted: [] }
  for (let turn = 0; turn < TURNS; turn++)
    // The order changes with each turn, so that a drift adds to both.
    for (const form of turn % 2 === 0 ? FORMS : FORMS.toReversed()) {
      let fromUs: Promise<number> = Promise.resolve(0)
      const job = {
        port,
        request: getRequest(`/${length}/${form}`),
        connections: CONNECTIONS,
        seconds: SECONDS,
        bytesMin: length,
      }
      const { requests, failures } = await client.run(job, () => (fromUs = cpu()))
      const us = (await cpu()) - (await fromUs)
      if (failures > 0) throw new Error(`${failures} replies failed`)
      if (turn > 0) found[form].push(us / requests)
    }
  return found
}

/** CPU of the product's gateway for the cheapest reply that is paid for. */
async function gatewayUs(client: LoadClient): Promise<number> {
  await using ergon = await startProduct()
  await ergon.control('funds.add', { account: ergon.account, pusd: '1000000000000000' })
  const [pid = 0] = pidsOf(ergon.pid, 'gateway')
  const headers = `Authorization: Bearer ${ergon.token}\r\n`
  const job = {
    port: ergon.port,
    request: getRequest('/v1/models', headers),
    connections: CONNECTIONS,
    seconds: SECONDS,
    bytesMin: 1,
  }
  const found: number[] = []
  for (let turn = 0; turn < TURNS / 4; turn++) {
    let fromUs = 0
    const { requests, failures } = await client.run(job, () => (fromUs = cpuUs(pid)))
    if (failures > 0) throw new Error(`${failures} requests failed`)
    found.push((cpuUs(pid) - fromUs) / requests)
  }
  return median(found)
}

const getRequest = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`

function sectionOf(costs: ReadonlyMap<number, Cost>, wholeUs: number): Section {
  const differencesOf = ({ plain, counted }: Cost) =>
    counted.map((us, turn) => us - (plain[turn] ?? Number.NaN))
  const shareOf = (length: number, cost: Cost) => {
    // A large reply costs the gateway at least what it costs this server.
    const ofUs = length === LENGTHS[0] ? wholeUs : median(cost.plain)
    return (100 * median(differencesOf(cost))) / ofUs
  }
  return {
    name: 'unsent-replies',
    title: 'The count of unsent replies',
    bars: [...costs].map(([length, cost]) => ({
      what: `count of unsent replies: CPU of a gateway, replies of ${length / KIB} KiB`,
      value: shareOf(length, cost),
      most: SHARE_PCT_MAX,
      digits: 2,
      unit: '%',
    })),
    tables: [
      {
        caption: 'CPU of the server for a reply, by turns',
        columns: ['reply', 'µs without', 'µs with', 'difference, median', 'quartiles'],
        rows: [...costs].map(([length, cost]) => {
          const sorted = differencesOf(cost).toSorted((a, b) => a - b)
          const at = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? NaN).toFixed(2)
          return [
            `${length / KIB} KiB`,
            median(cost.plain).toFixed(1),
            median(cost.counted).toFixed(1),
            at(0.5),
            `${at(0.25)} to ${at(0.75)}`,
          ]
        }),
      },
    ],
    notes: [
      `${CONNECTIONS} connections, ${TURNS} turns of ${SECONDS} s each way, the first left out. A gateway used ${wholeUs.toFixed(0)} µs of CPU for GET /v1/models in the same sitting. The share of the larger reply is of this server's own CPU, which is less than a gateway's.`,
    ],
  }
}
