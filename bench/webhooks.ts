// Deliveries a second and core: events of some accounts that wait for their endpoints, which are then resumed. The whole
// product sends and charges them; the receiver is a process of its own on loopback, without TLS.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import type { State } from '#state/connect.ts'
import { openOwner, type Owner } from '../test/webhooks/owner.ts'
import { cpuUs } from './processes.ts'
import { pidsOf, startProduct, stateOf } from './product.ts'
import type { Section } from './report.ts'

const ACCOUNTS = 4
const ENDPOINTS = 4
const EVENTS = { whole: 10_000, quick: 6000 }
const EMIT_AT_ONCE = 500
const WAIT_MS = 300_000
const DATA = { balance_pusd: '1', low_water_pusd: '2', unit: 'tUSD' }

type Count = { readonly count: number }

export async function runWebhooks(isQuick = false): Promise<Section> {
  const events = isQuick ? EVENTS.quick : EVENTS.whole
  const file = fileURLToPath(new URL('./servers/webhook-receiver.ts', import.meta.url))
  const receiver = fork(file)
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
  const ergon = await startProduct()
  await using state = stateOf(ergon)
  try {
    const owners = await Promise.all(Array.from({ length: ACCOUNTS }, () => openOwner(ergon)))
    const ids = await Promise.all(owners.map((owner) => pausedEndpoints(owner, port)))
    const webhooks = await ergon.pidOf('webhooks')
    const servers = () => pidsOf(ergon.pid, 'postgres').reduce((sum, pid) => sum + cpuUs(pid), 0)
    const look = () => ({ serverUs: servers(), ownUs: cpuUs(webhooks), atMs: performance.now() })
    const began = look()
    for (const { account } of owners) await emit(state, account, events / ACCOUNTS)
    const emitted = look()
    await Promise.all(ids.flatMap((some, nth) => some.map((id) => resume(owners[nth], id))))
    const resumed = look()
    const deliveries = events * ENDPOINTS
    await settled(state)
    const ended = look()
    const received = await countOf(receiver)
    if (received < deliveries) throw new Error(`${received} of ${deliveries} deliveries arrived`)
    const each = (us: number, count: number) => `${(us / count).toFixed(0)} µs`
    const ownUs = (ended.ownUs - resumed.ownUs) / deliveries
    return {
      name: 'webhooks',
      title: 'Webhooks',
      bars: [
        { what: 'deliveries a core of the process', value: 1e6 / ownUs, least: 5000, unit: '/s' },
      ],
      tables: [
        {
          caption: `CPU of ${deliveries} deliveries to ${ACCOUNTS * ENDPOINTS} endpoints`,
          columns: ['work', 'CPU'],
          rows: [
            ['the process of webhooks: a delivery', `${ownUs.toFixed(0)} µs`],
            ['PostgreSQL: a delivery', each(ended.serverUs - resumed.serverUs, deliveries)],
            [
              `PostgreSQL: an event with its ${ENDPOINTS} deliveries`,
              each(emitted.serverUs - began.serverUs, events),
            ],
            [
              'all of it on this machine, with the receiver',
              `${Math.round((deliveries * 1000) / (ended.atMs - resumed.atMs))} deliveries/s`,
            ],
          ],
        },
      ],
      notes: ['Bodies have 230 bytes. Two HMACs, charging and the journal are in the figures.'],
    }
  } finally {
    receiver.kill()
    await ergon.stop()
  }
}

async function pausedEndpoints(owner: Owner, port: number): Promise<string[]> {
  const ids: string[] = []
  for (let nth = 0; nth < ENDPOINTS; nth++) {
    const { id } = await owner.create(`http://127.0.0.1:${port}/${nth}`, ['balance.low'])
    await owner.call('PATCH', `/v1/webhooks/${id}`, { paused: true })
    ids.push(id)
  }
  return ids
}

const resume = (owner: Owner | undefined, id: string) =>
  owner?.call('PATCH', `/v1/webhooks/${id}`, { paused: false })

async function emit(state: State, account: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += EMIT_AT_ONCE)
    await state.query(`select emit_event($1, 'balance.low', $2) from generate_series(1, $3::int)`, [
      account,
      JSON.stringify(DATA),
      Math.min(EMIT_AT_ONCE, count - done),
    ])
}

async function settled(state: State): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  for (;;) {
    const { rowCount } = await state.query(
      "select from webhook_deliveries where state = 'pending' limit 1",
    )
    if (rowCount === 0) return
    if (performance.now() > lastMs) throw new Error('The deliveries do not end')
    await pause(200)
  }
}

async function countOf(receiver: ReturnType<typeof fork>): Promise<number> {
  receiver.send('count')
  const [{ count }] = (await once(receiver, 'message')) as [Count]
  return count
}
